/** An overlay of the canvas: marks of links and nodes that show one of their properties, with a legend. */
import type { ReadonlySignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';

export const overlayNames = ['impairment', 'rate', 'loss', 'segments', 'state'] as const;
export type OverlayName = (typeof overlayNames)[number];

/** Looks of lines and tags, which differ in pattern or width as well as in colour; 0: nothing to show. */
export type OverlayLook = 0 | 1 | 2 | 3 | 4 | 5 | 6;

export interface OverlayMark {
  /** Empty: none. */
  readonly text: string;
  readonly look: OverlayLook;
  /** Room for texts that change, in pixels; else the text has its own width. */
  readonly room?: number;
}

/** Marks by the ids of links and nodes. Marks that stay are the same objects. */
export type OverlayMarks = ReadonlyMap<string, OverlayMark>;

export interface CanvasOverlay {
  /** The trace of a packet is shown as an overlay, too. */
  readonly name: OverlayName | 'trace';
  readonly links: ReadonlySignal<OverlayMarks>;
  readonly nodes: ReadonlySignal<OverlayMarks>;
  readonly Legend: FunctionComponent;
  stop(): void;
}

/** Returns the new items, with the objects of before where they are equal: what stays is not rendered again. */
export function keepEqual<T extends object>(now: ReadonlyMap<string, T>, before: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map(
    Array.from(now, ([id, item]) => {
      const old = before.get(id);
      return [id, old && JSON.stringify(old) === JSON.stringify(item) ? old : item];
    }),
  );
}
