/** The tool of the pointer, and the open panels. */
import { effect, signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
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

/** Panes beside the canvas, of which one is open at a time. */
const sidePanes = ['lab-text', 'notes'] as const;
export type SidePane = (typeof sidePanes)[number];

const select: Tool = { name: 'select' };
const sidePaneKey = 'patchbay.side-pane';
const timeLineKey = 'patchbay.time-line';

export class Tools {
  readonly tool = signal<Tool>(select);
  readonly paletteOpen = signal(matchMedia('(min-width: 900px)').matches);
  readonly inspectorOpen = signal(matchMedia('(min-width: 900px)').matches);
  /** The open pane beside the canvas: the lab as text, or its notes. Kept in this tab, with what is typed there. */
  readonly sidePane = signal(sidePanes.find((pane) => pane === sessionStorage.getItem(sidePaneKey)));
  /** The time line is shown at the foot of the canvas. Kept in the browser. */
  readonly timeLineOpen = signal(localStorage.getItem(timeLineKey) === 'open');
  /** Draws changes that are planned, or a snapshot that is looked at, over the canvas. */
  readonly ghosts = signal<FunctionComponent | undefined>(undefined);
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

  /** A pane beside the canvas closed the details, which return after it. */
  #tookInspector = false;

  constructor() {
    effect(() => sessionStorage.setItem(sidePaneKey, this.sidePane.value ?? ''));
    effect(() => localStorage.setItem(timeLineKey, this.timeLineOpen.value ? 'open' : 'closed'));
    if (this.sidePane.peek()) this.#makeRoom();
  }

  /** Opens or closes a pane beside the canvas. In windows that are not wide, it takes the place of the details. */
  toggleSidePane(pane: SidePane): void {
    const isOpen = this.sidePane.peek() !== pane;
    this.sidePane.value = isOpen ? pane : undefined;
    if (isOpen) this.#makeRoom();
    else if (this.#tookInspector) {
      this.#tookInspector = false;
      this.inspectorOpen.value = true;
    }
  }

  #makeRoom(): void {
    if (matchMedia('(min-width: 1500px)').matches) return;
    this.#tookInspector ||= this.inspectorOpen.peek();
    this.inspectorOpen.value = false;
    if (!matchMedia('(min-width: 900px)').matches) this.paletteOpen.value = false;
  }

  /** Returns to the pointer tool. */
  reset(): void {
    this.tool.value = select;
    this.menu.value = undefined;
    this.editing.value = undefined;
    this.renaming.value = undefined;
  }
}
