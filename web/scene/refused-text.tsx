/** A text of the canvas that the server refused: its editor opens again with the text and the reason. */
import type { Point } from '../geometry/geometry.ts';
import type { App } from '../state/app.ts';

export function findRefused({ tools }: App, id: string) {
  const refused = tools.refused.value;
  return refused?.id === id ? refused : undefined;
}

/** Focuses an editor that opens, unless the user has begun something else since the text was refused. */
export function focusEditor(field: HTMLInputElement | HTMLTextAreaElement | null, isRefused: boolean): void {
  if (isRefused && !document.activeElement?.matches('body, svg.canvas')) return;
  field?.focus();
  field?.select();
}

interface RefusalProps {
  readonly text: string | undefined;
  /** Lower left corner, in pixels of the canvas. Default: where it stands in its parent. */
  readonly at?: Point;
}

export function Refusal({ text, at }: RefusalProps) {
  if (text === undefined) return null;
  return (
    <small
      class={at ? 'refused text-refusal' : 'refused'}
      role="alert"
      {...(at && { style: { left: `${at.x}px`, top: `${at.y}px` } })}
    >
      {text}
    </small>
  );
}
