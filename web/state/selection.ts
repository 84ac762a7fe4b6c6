/** The selection on the canvas. Ids of nodes, links and drawings are unique, so one set holds them all. */
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { ProjectState } from './project.ts';

/** The label of a node or of one link end. */
export type LabelPart = 'name' | 0 | 1;

export class Selection {
  readonly ids = signal<ReadonlySet<string>>(new Set());
  readonly nodes: ReadonlySignal<readonly Node[]> = computed(() => this.#from(this.#project.nodes));
  readonly links: ReadonlySignal<readonly Link[]> = computed(() => this.#from(this.#project.links));
  readonly drawings: ReadonlySignal<readonly Drawing[]> = computed(() => this.#from(this.#project.drawings));
  /** The label of the single selected item, when the arrow keys move the label instead of the item. */
  readonly label = signal<LabelPart | undefined>(undefined);
  readonly #project: ProjectState;
  /** The ids that were selected last because a request had made them. */
  #made: ReadonlySet<string> | undefined;

  constructor(project: ProjectState) {
    this.#project = project;
  }

  get isEmpty(): boolean {
    return this.ids.value.size === 0;
  }

  has(id: string): boolean {
    return this.ids.value.has(id);
  }

  /** `label`: of the single item. */
  set(ids: Iterable<string>, label?: LabelPart): void {
    batch(() => {
      this.ids.value = new Set(ids);
      this.label.value = label;
    });
  }

  /**
   * Prepares for a request that is about to make items: selects them, unless the user has selected something else meanwhile. A late answer
   * must not put other items under the keys of the user.
   */
  whenMade(): (ids: Iterable<string>) => void {
    const before = this.ids.peek();
    return (ids) => {
      const now = this.ids.peek();
      if (now !== before && now !== this.#made) return;
      this.set(ids);
      this.#made = this.ids.peek();
    };
  }

  clear(): void {
    if (this.ids.peek().size > 0) this.set([]);
  }

  /** Selected label of this item, for use within signals. */
  labelOf(id: string): LabelPart | undefined {
    return this.label.value !== undefined && this.ids.value.has(id) ? this.label.value : undefined;
  }

  toggle(id: string): void {
    const ids = new Set(this.ids.peek());
    if (!ids.delete(id)) ids.add(id);
    this.set(ids);
  }

  remove(id: string): void {
    if (this.ids.peek().has(id)) this.toggle(id);
  }

  /** Removes what no longer exists from the selection, after everything was read again. */
  forgetMissing(): void {
    const { nodes, links, drawings } = this.#project;
    const left = [...this.ids.peek()].filter((id) => nodes.peek(id) || links.peek(id) || drawings.peek(id));
    if (left.length !== this.ids.peek().size) this.set(left);
  }

  #from<T extends object>(list: { find(id: string): T | undefined }): T[] {
    return [...this.ids.value].flatMap((id) => list.find(id) ?? []);
  }
}
