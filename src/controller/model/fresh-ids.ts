/** New ids for the parts of a project file that becomes another project's. */
import { randomUUID } from 'node:crypto';
import { mapInTurns } from '../../lib/turns.ts';
import { canonical } from './canonical.ts';
import type { Topology } from './topology.ts';

type FileObject = Record<string, unknown>;

/** Old id to new id; an id that is asked for twice gets the same answer, so that project and snapshots stay consistent. */
export class FreshIds {
  readonly #ids: Map<string, string>;

  constructor(ids: Iterable<readonly [string, string]> = []) {
    this.#ids = new Map(ids);
  }

  entries(): Iterable<[string, string]> {
    return this.#ids.entries();
  }

  add(ids: Iterable<readonly [string, string]>): void {
    for (const [old, id] of ids) this.#ids.set(old, id);
  }

  get(old: string): string {
    const known = this.#ids.get(old);
    if (known !== undefined) return known;
    const id = randomUUID();
    this.#ids.set(old, id);
    return id;
  }

  /** The new id of something that was renamed before; undefined for any other text. */
  find(old: string): string | undefined {
    return this.#ids.get(old);
  }
}

export interface NewIdentity {
  readonly projectId: string;
  readonly name: string;
  readonly ids: FreshIds;
  /** Properties that hold a MAC address become null, so that the nodes get new ones. */
  readonly resetMacAddresses: boolean;
}

/**
 * The project file (any revision since 2.0, as parsed) under its new identity. Keys that are not known here are kept as they are.
 */
export function withNewIdentity(file: FileObject, identity: NewIdentity): FileObject {
  const topology = (file.topology ?? {}) as FileObject;
  return {
    ...file,
    name: identity.name,
    project_id: identity.projectId,
    topology: {
      ...topology,
      nodes: items(topology.nodes).map((node) => withNewNodeId(node, identity)),
      links: items(topology.links).map((link) => withNewLinkId(link, identity)),
      drawings: items(topology.drawings).map((drawing) => ({ ...drawing, ...renamed(drawing, 'drawing_id', identity.ids) })),
    },
  };
}

/** The content of a project under new ids; its own fields stay. */
export async function renewTopology(topology: Topology, identity: NewIdentity): Promise<Topology> {
  const renew = <T>(list: readonly T[], fn: (entry: FileObject) => FileObject) =>
    mapInTurns(list, (entry) => canonical(fn(entry as unknown as FileObject)) as unknown as T);
  return {
    ...topology,
    nodes: await renew(topology.nodes, (node) => withNewNodeId(node, identity)),
    links: await renew(topology.links, (link) => withNewLinkId(link, identity)),
    drawings: await renew(topology.drawings, (drawing) => ({ ...drawing, ...renamed(drawing, 'drawing_id', identity.ids) })),
  };
}

function withNewLinkId(link: FileObject, { ids }: NewIdentity): FileObject {
  const nodes = items(link.nodes).map((end) => ({ ...end, ...renamed(end, 'node_id', ids) }));
  return { ...link, ...renamed(link, 'link_id', ids), nodes, ...withNewMirror(link, ids) };
}

/** Renews the node id in a link's mirror. The link may be a stored one or one of a project file. */
function withNewMirror({ mirror, link_style }: FileObject, ids: FreshIds): FileObject {
  const moved = (value: unknown) => (isObject(value) ? { ...value, ...renamed(value, 'node_id', ids) } : value);
  const inStyle = isObject(link_style) && 'patchbay_mirror' in link_style;
  return {
    ...(mirror !== undefined && { mirror: moved(mirror) }),
    ...(inStyle && { link_style: { ...link_style, patchbay_mirror: moved(link_style.patchbay_mirror) } }),
  };
}

function isObject(value: unknown): value is FileObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withNewNodeId(node: FileObject, { ids, resetMacAddresses }: NewIdentity): FileObject {
  const copy = { ...node, ...renamed(node, 'node_id', ids) };
  return resetMacAddresses ? { ...copy, properties: withoutMacAddresses((node.properties ?? {}) as FileObject) } : copy;
}

/** Resets MAC addresses to null, which requests new ones. */
export function withoutMacAddresses(properties: Readonly<FileObject>): FileObject {
  const reset = ['mac_addr', 'mac_address'].filter((key) => key in properties).map((key) => [key, null]);
  return { ...properties, ...Object.fromEntries(reset) };
}

function renamed(part: FileObject, key: string, ids: FreshIds): FileObject {
  const old = part[key];
  return typeof old === 'string' ? { [key]: ids.get(old) } : {};
}

function items(value: unknown): FileObject[] {
  return Array.isArray(value) ? (value as FileObject[]) : [];
}
