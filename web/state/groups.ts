/**
 * Groups: rectangles with a mark in their SVG. What lies inside moves with the rectangle; a collapsed one hides it. A group is a drawing,
 * so that it is stored, exported and undone as one; other clients show its rectangle.
 */
import { computed, type ReadonlySignal } from '@preact/signals';
import { type Box, centreOf, nodeBox } from '../geometry/geometry.ts';
import type { ProjectState } from './project.ts';

export interface CollapsedGroup {
  /** Of its drawing. */
  readonly id: string;
  /** Where it is shown. */
  readonly box: Box;
  readonly nodeCount: number;
}

const collapsedSize = { width: 124, height: 56 };

export class Groups {
  readonly #project: ProjectState;
  /** The collapsed groups, by the ids of the nodes and drawings that they hide. */
  readonly hidden: ReadonlySignal<ReadonlyMap<string, CollapsedGroup>>;

  constructor(project: ProjectState) {
    this.#project = project;
    this.hidden = computed(() => this.#hiddenNow());
  }

  isGroup(id: string): boolean {
    return this.#pictureOf(id)?.group !== undefined;
  }

  isCollapsed(id: string): boolean {
    return this.#pictureOf(id)?.group === 'collapsed';
  }

  /** With everything that lies in the groups among them. */
  withMembers(ids: Iterable<string>): ReadonlySet<string> {
    const all = new Set(ids);
    for (const id of [...all]) if (this.isGroup(id)) for (const member of this.#membersOf(id)) all.add(member);
    return all;
  }

  /** How a collapsed group is shown: in the middle of its rectangle. */
  shown(id: string): CollapsedGroup | undefined {
    const drawing = this.#project.drawings.peek(id);
    const picture = this.#pictureOf(id);
    if (!drawing || !picture) return undefined;
    const { x, y } = centreOf({ x: drawing.x, y: drawing.y, width: picture.width, height: picture.height });
    const { width, height } = collapsedSize;
    const nodeCount = this.#membersOf(id).filter((member) => this.#project.nodes.peek(member)).length;
    return { id, box: { x: x - width / 2, y: y - height / 2, width, height }, nodeCount };
  }

  #pictureOf(id: string) {
    const drawing = this.#project.drawings.peek(id);
    const picture = drawing && this.#project.pictures.of(drawing.svg);
    return picture?.shape === 'rectangle' ? picture : undefined;
  }

  /** Items whose centre is inside. */
  #membersOf(id: string): string[] {
    const { nodes, drawings, pictures } = this.#project;
    const drawing = drawings.peek(id);
    const picture = this.#pictureOf(id);
    if (!drawing || !picture) return [];
    const isInside = (box: Box) => {
      const { x, y } = centreOf(box);
      return x >= drawing.x && y >= drawing.y && x <= drawing.x + picture.width && y <= drawing.y + picture.height;
    };
    const others = drawings.all.peek().filter(({ drawing_id, svg, x, y }) => {
      const { width, height } = pictures.of(svg);
      return drawing_id !== id && isInside({ x, y, width, height });
    });
    const inside = nodes.all.peek().filter((node) => isInside(nodeBox(node)));
    return [...inside.map(({ node_id }) => node_id), ...others.map(({ drawing_id }) => drawing_id)];
  }

  /** Depends on the nodes only while a group is collapsed. */
  #hiddenNow(): ReadonlyMap<string, CollapsedGroup> {
    const hidden = new Map<string, CollapsedGroup>();
    for (const { drawing_id: id } of this.#project.drawings.all.value) {
      if (!this.isCollapsed(id)) continue;
      void this.#project.nodes.all.value;
      const group = this.shown(id);
      if (group) for (const member of this.#membersOf(id)) if (!hidden.has(member)) hidden.set(member, group);
    }
    return hidden;
  }
}
