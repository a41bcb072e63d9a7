import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const minHeight = 120; // pixels; minimum height of the resized element
const maxHeight = (): number => Math.max(minHeight, innerHeight - 220);
const limited = (height: number): number => Math.round(Math.min(maxHeight(), Math.max(minHeight, height)));

interface HeightHandleProps {
  element: HTMLElement;
  label: string;
  initialHeight: number;
  onResized: (height: number) => void;
}

export function HeightHandle({ element, label, initialHeight, onResized }: HeightHandleProps) {
  const [height, setHeight] = useState(() => limited(initialHeight));
  const bottom = useRef<number | null>(null); // position of the lower edge during a drag
  useLayoutEffect(() => {
    element.style.height = `${height}px`;
  }, [element, height]);
  const begin = (e: TargetedPointerEvent<HTMLElement>): void => {
    e.preventDefault();
    e.currentTarget.setPointerCapture(e.pointerId);
    bottom.current = e.clientY + height;
  };
  const move = (e: TargetedPointerEvent<HTMLElement>): void => {
    if (bottom.current !== null) setHeight(limited(bottom.current - e.clientY));
  };
  const end = (): void => {
    bottom.current = null;
    onResized(height);
  };
  const handleKey = (e: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = e.key === "ArrowUp" ? 24 : e.key === "ArrowDown" ? -24 : 0;
    if (step === 0) return;
    e.preventDefault();
    e.stopPropagation();
    setHeight(limited(height + step));
    onResized(limited(height + step));
  };
  return (
    <div
      class="height-handle"
      role="separator"
      aria-orientation="horizontal"
      aria-label={label}
      tabIndex={0}
      aria-valuemin={minHeight}
      aria-valuenow={height}
      aria-valuemax={maxHeight()}
      onPointerDown={begin}
      onPointerMove={move}
      onLostPointerCapture={end}
      onKeyDown={handleKey}
    />
  );
}
