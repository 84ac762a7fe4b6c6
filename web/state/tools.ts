/** The tool of the pointer, and the open panels. */
import { signal } from '@preact/signals';
import type { LinkEnd } from '../../src/schema/link.ts';

export type DrawingShape = 'text' | 'rectangle' | 'ellipse' | 'line';

/** An end of a link that is about to be connected to another port. */
export interface MovedEnd {
  readonly linkId: string;
  readonly end: 0 | 1;
}

export type Tool =
  | { readonly name: 'select' }
  /** `from`: the end that is known; `moves`: the other one, when the link exists. */
  | { readonly name: 'wire'; readonly from?: LinkEnd; readonly moves?: MovedEnd }
  | { readonly name: 'draw'; readonly shape: DrawingShape };

/** A text of the canvas that the server refused, and why. */
interface RefusedText {
  /** Id of the drawing or node. */
  readonly id: string;
  readonly text: string;
  readonly reason: string;
}

const select: Tool = { name: 'select' };

export class Tools {
  readonly tool = signal<Tool>(select);
  readonly paletteOpen = signal(matchMedia('(min-width: 900px)').matches);
  readonly inspectorOpen = signal(matchMedia('(min-width: 900px)').matches);
  /** The drawing whose text is being edited on the canvas. */
  readonly editing = signal<string | undefined>(undefined);
  /** The node whose name is being edited on the canvas. */
  readonly renaming = signal<string | undefined>(undefined);
  /** A text that the server refused: its editor opens again and keeps it. */
  readonly refused = signal<RefusedText | undefined>(undefined);
  /** A pointer is down on the canvas. */
  readonly pressing = signal(false);
  /** Menu at a point of the window. */
  readonly menu = signal<{ readonly x: number; readonly y: number } | undefined>(undefined);

  /** Returns to the pointer tool. */
  reset(): void {
    this.tool.value = select;
    this.menu.value = undefined;
    this.editing.value = undefined;
    this.renaming.value = undefined;
  }
}
