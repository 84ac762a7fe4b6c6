/** Takes changes back: first it is looked whether that can be, then each is followed by its opposite, the last one first. */
import { isDeepStrictEqual } from 'node:util';
import type { LinkInput } from '../../../schema/link.ts';
import { emptyAction, type LogRecord } from '../../log/project-state.ts';
import {
  type DrawingEntry,
  type LinkEntry,
  type NodeEntry,
  type ProjectEntry,
  toDrawingEntry,
  toLinkEntry,
} from '../../model/topology.ts';
import { withoutView } from '../../model/view-settings.ts';
import { readPicture } from '../drawings/pictures.ts';
import type { ProjectDrawings } from '../drawings/project-drawings.ts';
import type { ProjectLinks } from '../links/project-links.ts';
import type { ProjectNodes } from '../nodes/project-nodes.ts';

export interface Parts {
  readonly folder: string;
  /** The project's own fields. */
  readonly entry: ProjectEntry;
  update(fields: object): Promise<void>;
  readonly nodes: ProjectNodes;
  readonly links: ProjectLinks;
  readonly drawings: ProjectDrawings;
}

/** Why the changes cannot be taken back as things are now, in words; undefined when they can. */
export function findConflict(records: readonly LogRecord[], parts: Parts): string | undefined {
  const check = new Check(parts);
  for (const record of records.toReversed()) {
    const reason = check.of(record);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

export async function takeBack({ action, event, was }: Pick<LogRecord, 'action' | 'event' | 'was'>, parts: Parts): Promise<void> {
  const { nodes, links, drawings, folder } = parts;
  switch (action) {
    case 'project.updated':
      return parts.update(withoutView(changed(was, event)));
    case 'node.created':
      return nodes.delete((event as NodeEntry).node_id);
    case 'node.deleted':
      return nodes.bringBack(was as NodeEntry);
    case 'node.updated':
      return nodes.setBack((event as NodeEntry).node_id, changed(was, event));
    case 'link.created':
      // The node may have taken it along.
      return links.find((event as LinkEntry).link_id) && links.delete((event as LinkEntry).link_id);
    case 'link.deleted':
      await links.create(was as LinkInput, (was as LinkEntry).link_id);
      return undefined;
    case 'link.updated':
      await links.update((event as LinkEntry).link_id, changed(was, toLinkEntry(event as LinkInput)) as LinkInput);
      return undefined;
    case 'drawing.created':
      return drawings.delete((event as DrawingEntry).drawing_id);
    case 'drawing.deleted':
      await drawings.create(await withPicture(was as DrawingEntry, folder));
      return undefined;
    case 'drawing.updated':
      await drawings.update((event as DrawingEntry).drawing_id, await withPicture(changed(was, event), folder));
      return undefined;
  }
}

/** What of `before` is otherwise in `after`, as far as `after` tells it. */
function changed(before: object | null, after: object | undefined): Record<string, unknown> {
  const later = (after ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(before ?? {}).filter(([key, value]) => key in later && !isDeepStrictEqual(value, later[key])),
  );
}

async function withPicture<T extends { svg?: string }>(drawing: T, folder: string): Promise<T> {
  return drawing.svg === undefined ? drawing : { ...drawing, svg: await readPicture(folder, drawing.svg) };
}

/** Looks at changes from the last to the first, and remembers what will be when those have been taken back. */
class Check {
  readonly #parts: Parts;
  /** Things that will be there, or not. */
  readonly #will = new Map<string, boolean>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  of({ action, event, was }: LogRecord): string | undefined {
    const [what, verb] = action.split('.');
    if (action === emptyAction) return undefined;
    if (what === 'project') return this.#project(event as ProjectEntry, was as ProjectEntry);
    if (what === 'node') return this.#node(verb, event as NodeEntry, was as NodeEntry | null);
    if (what === 'link') return this.#link(verb, toLinkEntry(event as LinkInput) as LinkEntry, was as LinkEntry | null);
    return this.#drawing(verb, event as DrawingEntry, was as DrawingEntry | null);
  }

  #project(event: ProjectEntry, was: ProjectEntry): string | undefined {
    return isStill(this.#parts.entry, event, withoutView(changed(was, event)))
      ? undefined
      : 'the settings of the project were changed since';
  }

  #node(verb: string | undefined, event: NodeEntry, was: NodeEntry | null): string | undefined {
    const { nodes } = this.#parts;
    const node = nodes.find(event.node_id);
    if (verb === 'deleted') {
      this.#will.set(event.node_id, true);
      if (node) return `there is a node with the id ${event.node_id} again`;
      if (!nodes.computeOf(event)) return `the compute ${event.compute_id} of node ${event.name} is not there`;
      return nodes.isNamed(event.name) ? `another node is called ${event.name} now` : undefined;
    }
    if (!node) return `node ${event.name} is not there any more`;
    if (verb === 'created') {
      this.#will.set(event.node_id, false);
      return node.entry.locked ? `node ${node.entry.name} is locked: unlock it first` : undefined;
    }
    if (this.#isSeen(event.node_id)) return undefined;
    const wanted = changed(was, event) as Partial<NodeEntry>;
    if (!isStill(node.entry, event, wanted)) return `node ${node.entry.name} was changed since`;
    const isNameTaken = wanted.name !== undefined && nodes.isNamed(wanted.name);
    return isNameTaken ? `another node is called ${wanted.name} now` : undefined;
  }

  #link(verb: string | undefined, event: LinkEntry, was: LinkEntry | null): string | undefined {
    const { links, nodes } = this.#parts;
    const link = links.find(event.link_id);
    if (verb === 'deleted') {
      if (link) return 'the link is there again';
      for (const end of event.nodes) {
        const node = nodes.find(end.node_id);
        if (!(this.#will.get(end.node_id) ?? node !== undefined)) return 'a node of the link is not there any more';
        if (links.isTaken(end))
          return `port ${end.adapter_number}/${end.port_number} of ${node?.entry.name} is used by another link`;
      }
      return undefined;
    }
    if (verb === 'created') return link ? undefined : 'the link is not there any more';
    if (!link) return 'the link is not there any more';
    const isAsLeft = this.#isSeen(event.link_id) || isStill(link.entry, event, changed(was, event));
    return isAsLeft ? undefined : 'the link was changed since';
  }

  #drawing(verb: string | undefined, event: DrawingEntry, was: DrawingEntry | null): string | undefined {
    const drawing = this.#parts.drawings.findEntry(event.drawing_id);
    if (verb === 'deleted') return drawing ? 'the drawing is there again' : undefined;
    if (!drawing) return 'the drawing is not there any more';
    if (verb === 'created') return drawing.locked ? 'the drawing is locked: unlock it first' : undefined;
    const left = toDrawingEntry({ ...drawing, ...event });
    return this.#isSeen(event.drawing_id) || isStill(drawing, left, changed(was, event))
      ? undefined
      : 'the drawing was changed since';
  }

  /** Of several changes of one thing only the last must be as it was left. */
  #isSeen(id: string): boolean {
    if (this.#will.has(id)) return true;
    this.#will.set(id, true);
    return false;
  }
}

/** Whether what is to be set back is as the change left it. Of properties, those that it changed. */
function isStill<T extends object>(now: T, left: T, wanted: object): boolean {
  return Object.entries(wanted).every(([key, before]) => {
    const [one, other] = [now[key as keyof T], left[key as keyof T]];
    if (key !== 'properties') return isDeepStrictEqual(one, other);
    const inner = changed(before as object, other as object);
    return Object.keys(inner).every((name) =>
      isDeepStrictEqual((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    );
  });
}
