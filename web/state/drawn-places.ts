/** Bends of links and places of labels, which the canvas chooses itself: for all views that draw links or names. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Link } from '../../src/schema/link.ts';
import type { Placement } from '../geometry/label-places.ts';
import { DraggedPlaces } from './dragged-places.ts';
import type { CollapsedGroup } from './groups.ts';
import { linkBulges } from './link-bulges.ts';
import type { CanvasOverlay } from './overlay.ts';

export class DrawnPlaces {
  readonly dragged = new DraggedPlaces();
  /** Spots of labels. Replaced, never changed; spots that stay are the same objects. */
  readonly placement = signal<Placement>({ names: new Map(), links: new Map() });
  /** Marks of one property, for views that draw links or nodes. */
  readonly overlay = signal<CanvasOverlay | undefined>(undefined);
  /** All bends of links by their ids, in pixels, as seen from the end with the smaller id. */
  readonly bulges: ReadonlySignal<ReadonlyMap<string, number>>;
  /** Bends that keep links apart from others between the same nodes. */
  readonly bundles: ReadonlySignal<ReadonlyMap<string, number>>;
  /** Further bends, around foreign nodes. */
  readonly detours = signal<ReadonlyMap<string, number>>(new Map());

  constructor(links: () => readonly Link[], hidden: () => ReadonlyMap<string, CollapsedGroup>) {
    let bundles: ReadonlyMap<string, number> = new Map();
    this.bundles = computed(() => {
      const now = linkBulges(links(), hidden());
      bundles = isSame(now, bundles) ? bundles : now;
      return bundles;
    });
    this.bulges = computed(() => {
      const bulges = new Map(this.bundles.value);
      for (const [id, bend] of this.detours.value) bulges.set(id, (bulges.get(id) ?? 0) + bend);
      return bulges;
    });
  }

  /** Shows an overlay in place of the one before; undefined: none. */
  show(overlay: CanvasOverlay | undefined): void {
    this.overlay.peek()?.stop();
    this.overlay.value = overlay;
  }
}

/** A map that stays the same object has no line computed anew. */
const isSame = (one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>) =>
  one.size === other.size && [...one].every(([id, bend]) => other.get(id) === bend);
