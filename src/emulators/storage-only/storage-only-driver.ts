/**
 * Driver of the storage-only kinds: their nodes are made, shown, changed, linked and copied like any others, so that a project loses
 * nothing here; only what needs the emulator answers what is missing (ADR 16). A kind that comes to run takes what this driver has, and
 * adds `start` and `adopt` of its own.
 */
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import { computeRoute, type Route, type RouteKey } from '../../api/route.ts';
import { unusableMark } from '../../schema/problem-marks.ts';
import type { TSchema } from '../../schema/type.ts';
import type { Driver, NodeAccess, NodeNumbers, NodePlace, Properties } from '../driver.ts';
import { renameInConfigs, writeConfig } from '../facts/config-files.ts';
import type { Host } from '../host/host.ts';
import type { Kind } from '../kind.ts';

/** Facts of a kind about the properties that its nodes store. */
export interface StoredFacts {
  readonly kind: Kind;
  /** Completes the given properties with the kind's defaults; other keys are not stored. `undefined`: only what was given. */
  readonly defaults: (given: Properties) => Properties;
  /** Derives properties from the others, whatever the client gave for them. Default: nothing. */
  readonly derived?: (properties: Properties) => Properties;
  /** Kept and not shown. */
  readonly hidden?: readonly string[];
  /** Ignored in a change. */
  readonly fixed?: readonly string[];
  /** The property that names an image of `kind.images`, and the one that shows its MD5 sum. */
  readonly image?: { readonly property: string; readonly sum: string };
  readonly number?: NumberFacts;
  /** Files of a node's folder that hold `startup_config_content` and `private_config_content` of a creation request. */
  readonly configs?: readonly [startup: string, private_: string];
}

export interface StorageOnlyFacts extends StoredFacts {
  /** Routes that need the emulator. */
  readonly refused?: readonly RefusedRoute[];
  /** Name of GNS3's class of errors, for controllers. */
  readonly exception: string;
  /** The missing program or feature, as a sentence, and the remedy. */
  readonly missing: string;
}

/** A number from 1 on that no two nodes have. */
interface NumberFacts {
  readonly property: string;
  readonly last: number;
  /** The nodes among which the number is unique. */
  readonly within: 'project' | 'compute';
  /** A number that a request gives must be free as well. Default false. */
  readonly isChecked?: true;
}

interface RefusedRoute {
  /** Route below `/v2/compute/` when it has no node, else below the node. */
  readonly key: RouteKey;
  readonly summary: string;
  /** The refused action, as in "cannot {what}". */
  readonly what: string;
  readonly status?: number;
  readonly reply?: TSchema;
}

export function storageOnlyDriver(facts: StorageOnlyFacts, host: Host): Driver & StoredVerbs {
  return {
    ...storedNodes(facts, host),
    async start({ name }) {
      throw emulatorMissing(facts, `start ${name}`);
    },
    adopt: async () => undefined,
    routes: (nodes) => (facts.refused ?? []).map((spec) => refusedRoute(spec, facts, nodes)),
  };
}

/** The verbs of a driver that need no emulator. `clearLack`: the node has all that it needs, as it was started. */
type StoredVerbs = Omit<Driver, 'start' | 'adopt'> & { readonly clearLack: (nodeId: string) => void };

export function storedNodes(facts: StoredFacts, host: Host): StoredVerbs {
  const { kind, hidden = [], fixed = [], image, number, configs } = facts;
  const images = kind.images && host.images.of(kind.images);
  /** Ids of nodes to what they lack, as a sentence. */
  const lacks = new Map<string, string>();
  const accepted = async (given: Properties, { nodeId, projectDirectory }: NodePlace): Promise<Properties> => {
    if (!images || !image || given[image.property] === undefined) return given;
    lacks.delete(nodeId);
    const reference = String(given[image.property]);
    // A missing image keeps its given name: its node is part of a project all the same, and its start says what to bring.
    const shown = await images.accept(reference, projectDirectory).catch((error: unknown) => {
      if (!isFault(error, 'image_missing')) throw error;
      if (reference !== '') lacks.set(nodeId, error.message);
      return reference;
    });
    return { ...given, [image.property]: shown };
  };
  return {
    kind,
    ...(number && { numbered: true }),
    async create(input, node) {
      const numbered = number ? { [number.property]: numberFor(number, facts, { input, node }) } : {};
      return complete(facts, { ...(await accepted(input, node)), ...numbered });
    },
    async update(current, changes, node) {
      const others = without(changes, fixed);
      const changed = await accepted(others, node);
      const isOtherImage = image && (changed[image.property] ?? current[image.property]) !== current[image.property];
      return complete(facts, { ...current, ...(isOtherImage && { [image.sum]: null }), ...changed });
    },
    present: (properties, nodeId = '') => ({
      ...(lacks.has(nodeId) && { command_line: `${unusableMark}${lacks.get(nodeId)}` }),
      ...without(properties, hidden),
      // A missing image has the sum that the project file knows.
      ...(images && image && { [image.sum]: images.md5(String(properties[image.property])) ?? properties[image.sum] ?? null }),
    }),
    clearLack: (nodeId) => void lacks.delete(nodeId),
    removed: async (nodeId) => void lacks.delete(nodeId),
    ...(configs && {
      async populate(directory, input, name) {
        await writeConfig(join(directory, configs[0]), input.startup_config_content, name);
        await writeConfig(join(directory, configs[1]), input.private_config_content, name);
      },
      renamed: (directory, _from, to) => renameInConfigs(directory, configs, to),
    }),
  };
}

function complete({ defaults, derived, image }: StoredFacts, given: Properties): Properties {
  const standards = { ...defaults(given), ...(image && { [image.sum]: null }) };
  const filled = Object.fromEntries(Object.entries(standards).map(([key, standard]) => [key, given[key] ?? standard]));
  return Object.freeze({ ...filled, ...derived?.(filled) });
}

function without(properties: Properties, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !keys.includes(key)));
}

/** @throws node_numbers_exhausted, node_number_taken */
function numberFor(
  { property, last, within, isChecked }: NumberFacts,
  { kind }: StoredFacts,
  { input, node }: { readonly input: Properties; readonly node: NodeNumbers },
): unknown {
  const others = node.taken?.(property, within) ?? new Set();
  const wanted = input[property];
  if (typeof wanted === 'number') {
    if (isChecked && others.has(wanted)) throw fault('node_number_taken', { property, number: wanted });
    return wanted;
  }
  for (let free = 1; free <= last; free++) if (!others.has(free)) return free;
  throw fault('node_numbers_exhausted', { node_type: kind.type, last });
}

function refusedRoute({ key, what, ...spec }: RefusedRoute, facts: StorageOnlyFacts, nodes: NodeAccess): Route {
  return computeRoute(key, spec, ({ path }) => {
    const { project_id, node_id } = path as { project_id?: string; node_id?: string };
    if (project_id === undefined || node_id === undefined) throw emulatorMissing(facts, what);
    return nodes.whileStopped({ project_id, node_id }, what, async ({ name }) => {
      throw emulatorMissing(facts, `${what} of ${name}`);
    });
  });
}

function emulatorMissing({ missing, exception }: StorageOnlyFacts, what: string): Error {
  return fault('emulator_absent', { what, reason: missing }, { extra: { exception } });
}
