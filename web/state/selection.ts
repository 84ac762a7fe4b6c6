/** What is selected on the canvas. Ids of nodes, links and drawings are unique, so one set holds them all. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { ProjectState } from './project.ts';

export class Selection {
  readonly ids = signal<ReadonlySet<string>>(new Set());
  readonly nodes: ReadonlySignal<readonly Node[]> = computed(() => this.#from(this.#project.nodes));
  readonly links: ReadonlySignal<readonly Link[]> = computed(() => this.#from(this.#project.links));
  readonly drawings: ReadonlySignal<readonly Drawing[]> = computed(() => this.#from(this.#project.drawings));
  readonly #project: ProjectState;

  constructor(project: ProjectState) {
    this.#project = project;
  }

  get isEmpty(): boolean {
    return this.ids.value.size === 0;
  }

  has(id: string): boolean {
    return this.ids.value.has(id);
  }

  set(ids: Iterable<string>): void {
    this.ids.value = new Set(ids);
  }

  clear(): void {
    if (this.ids.peek().size > 0) this.ids.value = new Set();
  }

  toggle(id: string): void {
    const ids = new Set(this.ids.peek());
    if (!ids.delete(id)) ids.add(id);
    this.ids.value = ids;
  }

  remove(id: string): void {
    if (this.ids.peek().has(id)) this.toggle(id);
  }

  /** After everything was read anew. */
  forgetMissing(): void {
    const { nodes, links, drawings } = this.#project;
    const left = [...this.ids.peek()].filter((id) => nodes.peek(id) || links.peek(id) || drawings.peek(id));
    if (left.length !== this.ids.peek().size) this.set(left);
  }

  #from<T extends object>(list: { find(id: string): T | undefined }): T[] {
    return [...this.ids.value].flatMap((id) => list.find(id) ?? []);
  }
}
