/**
 * Groups: rectangles with a mark in their SVG. What lies inside moves with the rectangle; a collapsed one hides it. A group is a
 * drawing, so that it is stored, exported and undone as one; other clients show its rectangle.
 */
import { computed, type ReadonlySignal } from '@preact/signals';
import { type Box, centreOf, nodeBox, toLocal, toScene } from '../geometry/geometry.ts';
import { groupMark } from '../geometry/picture.ts';
import type { ProjectState } from './project.ts';

export interface CollapsedGroup {
  /** Id of the group's drawing. */
  readonly id: string;
  /** Where it is shown. */
  readonly box: Box;
  /** Empty when it has none. */
  readonly name: string;
  readonly nodeCount: number;
}

const collapsedSize = { width: 124, height: 56 };

export class Groups {
  readonly #project: ProjectState;
  /** Stays the same object: most labs have no collapsed group, and each line asks for those of its ends. */
  readonly #none: ReadonlyMap<string, CollapsedGroup> = new Map();
  /** The collapsed groups, by the ids of the nodes and drawings that they hide. */
  readonly hidden: ReadonlySignal<ReadonlyMap<string, CollapsedGroup>>;

  constructor(project: ProjectState) {
    this.#project = project;
    this.hidden = computed(() => this.#hiddenNow());
  }

  isGroup(id: string): boolean {
    return this.#pictureOf(id) !== undefined;
  }

  isCollapsed(id: string): boolean {
    return this.#pictureOf(id)?.group === 'collapsed';
  }

  /** Adds everything that lies in the groups among the items. Locked groups keep their members when they are to be moved. */
  withMembers(ids: Iterable<string>, which: 'movable' | 'also locked' = 'movable'): ReadonlySet<string> {
    const all = new Set(ids);
    // Members may be groups: the loop also visits items that it adds.
    for (const id of all) {
      const isTaken = this.isGroup(id) && (which === 'also locked' || !this.#project.drawings.peek(id)?.locked);
      if (isTaken) for (const member of this.#membersOf(id)) all.add(member);
    }
    return all;
  }

  /** Picture of a collapsed group, in the middle of its rectangle. */
  shown(id: string): CollapsedGroup | undefined {
    const drawing = this.#project.drawings.peek(id);
    const picture = this.#pictureOf(id);
    if (!drawing || !picture) return undefined;
    const { x, y } = toScene({ x: picture.width / 2, y: picture.height / 2 }, drawing);
    const { width, height } = collapsedSize;
    const nodeCount = this.#membersOf(id).filter((member) => this.#project.nodes.peek(member)).length;
    const { name = '' } = picture;
    return { id, box: { x: x - width / 2, y: y - height / 2, width, height }, name, nodeCount };
  }

  /** The box of a group at the place where it is dragged. */
  drawnBox({ id, box }: CollapsedGroup): Box {
    const drawing = this.#project.drawings.peek(id);
    if (!drawing) return box;
    const { x, y } = this.#project.drawn.dragged.placed(id, drawing);
    return { ...box, x: box.x + x - drawing.x, y: box.y + y - drawing.y };
  }

  #pictureOf(id: string) {
    const drawing = this.#project.drawings.peek(id);
    // Most drawings are none, and need not be parsed to know it.
    if (!drawing?.svg.includes(groupMark)) return undefined;
    const picture = this.#project.pictures.of(drawing.svg);
    return picture.shape === 'rectangle' && picture.group ? picture : undefined;
  }

  /** Items whose centre is inside; of drawings only smaller ones, so that no two groups hide each other. */
  #membersOf(id: string): string[] {
    const { nodes, drawings, pictures } = this.#project;
    const drawing = drawings.peek(id);
    const picture = this.#pictureOf(id);
    if (!drawing || !picture) return [];
    const isInside = (box: Box) => {
      const { x, y } = toLocal(centreOf(box), drawing);
      return x >= 0 && y >= 0 && x <= picture.width && y <= picture.height;
    };
    const area = picture.width * picture.height;
    const others = drawings.all.peek().filter((other) => {
      const { width, height } = pictures.of(other.svg);
      const isSmaller = width * height < area || (width * height === area && other.drawing_id > id);
      return isSmaller && isInside({ ...toScene({ x: width / 2, y: height / 2 }, other), width: 0, height: 0 });
    });
    const inside = nodes.all.peek().filter((node) => isInside(nodeBox(node)));
    return [...inside.map(({ node_id }) => node_id), ...others.map(({ drawing_id }) => drawing_id)];
  }

  /** Depends on the nodes only while a group is collapsed. */
  #hiddenNow(): ReadonlyMap<string, CollapsedGroup> {
    const collapsed = this.#project.drawings.all.value.filter(({ drawing_id }) => this.isCollapsed(drawing_id));
    if (collapsed.length === 0) return this.#none;
    const hidden = new Map<string, CollapsedGroup>();
    void this.#project.nodes.all.value;
    for (const { drawing_id } of collapsed) {
      const group = this.shown(drawing_id);
      if (group) for (const member of this.#membersOf(drawing_id)) if (!hidden.has(member)) hidden.set(member, group);
    }
    // Items of a hidden group are represented by the outermost group.
    return new Map(Array.from(hidden, ([member, group]) => [member, outermost(hidden, group)]));
  }
}

function outermost(hidden: ReadonlyMap<string, CollapsedGroup>, group: CollapsedGroup): CollapsedGroup {
  const around = hidden.get(group.id);
  return around ? outermost(hidden, around) : group;
}
