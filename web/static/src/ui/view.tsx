// Helpers for Preact views. Only views that load on demand can import this file, because it loads Preact.

import { Component, createContext, options, render } from "preact";
import type { ComponentChild, ComponentChildren, ComponentClass, FunctionComponent, RefObject, VNode } from "preact";
import { useCallback, useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatAgesInSentence } from "../text/age.ts";
import { escapeInvisible, hasInvisible, splitInvisible } from "../text/invisible-chars.ts";
import { highlight } from "./cell-highlight.ts";
import { h, type Attributes } from "./dom.ts";
import type { Content } from "./popover.ts";

export class ViewState {
  /** Whether changed values are highlighted. It is false during the first drawing of an object. */
  highlightsChanges = false;
  private readonly ages = new Set<() => void>();

  constructor(readonly now: () => number) {}

  tick(): void {
    for (const update of this.ages) update();
  }

  /** Calls `update` at every tick. Returns a function that ends these calls. */
  onTick(update: () => void): () => void {
    this.ages.add(update);
    return () => void this.ages.delete(update);
  }
}

const defaultState = new ViewState(() => Date.now());
const Shared = createContext(defaultState);

/** Renders or updates a view. `state` has the clock and the highlighting; views without ages and highlights omit it. */
export function mount(element: Element, view: ComponentChildren, state = defaultState): void {
  render(<Shared.Provider value={state}>{view}</Shared.Provider>, element);
}

export const unmount = (element: Element): void => render(null, element);

/**
 * Adds a closed modal dialog to the page. The caller mounts a view into the dialog. The dialog closes after a click on
 * its backdrop. Then the view is removed, and `closed` is called.
 */
export function addDialog(attributes: Attributes, closed: () => void): HTMLDialogElement {
  const dialog = h("dialog", attributes);
  dialog.addEventListener("click", (e) => {
    if (e.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    if (!dialog.open) unmount(dialog); // browsers send this event late, so the dialog can be open again
    closed();
  });
  document.body.append(dialog);
  return dialog;
}

export function popoverContent(view: ComponentChildren): Content {
  let shownIn: Element | null = null;
  return {
    show: (root) => {
      shownIn = root;
      mount(root, view);
    },
    close: () => {
      if (shownIn !== null) unmount(shownIn);
    },
  };
}

/** Renders a text that is updated at every tick of the view. */
export function TimedText({ format }: { format: (now: number) => string }) {
  const state = useContext(Shared);
  const redraw = useRedraw();
  const shown = useRef({ format, text: "" });
  shown.current = { format, text: format(state.now()) };
  useLayoutEffect(
    () =>
      state.onTick(() => {
        if (shown.current.format(state.now()) !== shown.current.text) redraw();
      }),
    [state],
  );
  return <>{shown.current.text}</>;
}

/** Renders a text in which each timestamp is replaced with its age. */
export const Age = ({
  wire,
  format = formatAgesInSentence,
}: {
  wire: string;
  format?: (wire: string, now: number) => string;
}) => <TimedText format={(now) => format(wire, now)} />;

export const useNow = (): (() => number) => useContext(Shared).now;

export function useRedraw(): () => void {
  const [, setCount] = useState(0);
  return useCallback(() => setCount((n) => n + 1), []);
}

/** Returns a ref. After each change of the text, highlights the element with this ref. For null, does nothing. */
export function useHighlight<E extends Element>(text: string | null): RefObject<E | null> {
  const state = useContext(Shared);
  const element = useRef<E>(null);
  useLayoutEffect(() => {
    if (text !== null && state.highlightsChanges && element.current !== null) highlight(element.current);
  }, [text]);
  return element;
}

/** Returns a component that is rendered again only after one of its props changes. */
export function memo<P extends object>(View: FunctionComponent<P>): ComponentClass<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const before = Object.entries(this.props);
      const after = Object.entries(next);
      return (
        before.length !== after.length ||
        after.some(([name, value], i) => before[i]?.[0] !== name || before[i][1] !== value)
      );
    }
    override render(props: P): ComponentChild {
      return <View {...props} />;
    }
  };
}

// Preact shows a String object as text, but the hook options.vnode below ignores it, so the text is not replaced again.
const TextWithInvisible = memo(({ text }: { text: string }) => (
  <>
    {splitInvisible(text).map((part) =>
      part.codePoints === null ? (
        part.text
      ) : (
        <span class="invisible-char" data-codepoints={part.codePoints}>
          {new String(part.text)}
        </span>
      ),
    )}
  </>
));

// Preact calls this hook for each new element and text. In a text, the hook replaces invisible characters by elements
// that show code points. In an attribute, it replaces them with code points as text.
options.vnode = (vnode: VNode<{ title?: unknown; "aria-label"?: unknown }>) => {
  const { type, props }: { type: unknown; props: unknown } = vnode;
  if (typeof props === "string") {
    if (hasInvisible(props)) Object.assign(vnode, { type: TextWithInvisible, props: { text: props } });
  } else if (typeof type === "string")
    for (const name of ["title", "aria-label"] as const) {
      const value = vnode.props[name];
      if (typeof value === "string" && hasInvisible(value)) vnode.props[name] = escapeInvisible(value);
    }
};
