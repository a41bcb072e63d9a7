/** Quotes a word for a shell if needed, so that the shell does not run a part of the word as another command. */
export const shellWord = (word: string): string =>
  /^[\w.:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/**
 * Returns the argument of kubectl for an object, such as "pods/web". In this form, kubectl cannot mistake a name for a
 * flag: the name of a Role can be "--server=https://example.com".
 */
export const objectWord = (type: string, name: string): string => shellWord(`${type}/${name}`);
