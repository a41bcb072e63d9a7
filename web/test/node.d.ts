// Declares only what the tests use, because the complete types would declare Node.js globals for code of the page.
declare module "node:test" {
  export function test(name: string, run: () => void | Promise<void>): Promise<void>;
  export const mock: { timers: { enable(options: { apis: string[] }): void; tick(ms: number): void; reset(): void } };
}
declare module "node:assert/strict" {
  const assert: {
    equal(got: unknown, want: unknown, message?: string): void;
    deepEqual(got: unknown, want: unknown, message?: string): void;
    ok(value: unknown, message?: string): asserts value;
    match(value: string, pattern: RegExp, message?: string): void;
    doesNotMatch(value: string, pattern: RegExp, message?: string): void;
  };
  export default assert;
}
declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
  export function readdirSync(path: string, options?: { recursive: boolean }): string[];
}
declare module "node:v8" {
  export function setFlagsFromString(flags: string): void;
  export function getHeapStatistics(): { used_heap_size: number };
}
declare module "node:vm" {
  export function runInNewContext(code: string): unknown;
}
