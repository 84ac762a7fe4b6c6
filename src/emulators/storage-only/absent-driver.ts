/**
 * Kinds that are known but cannot run on this compute: their nodes are made, shown, changed, linked and copied like any others, so that
 * a project loses nothing here; only what needs the emulator answers what is missing (ADR 16).
 */
import { fault, isFault } from '../../api/faults.ts';
import type { Driver, NodeAccess, Properties } from '../driver.ts';
import type { ImageFolder } from '../host/images.ts';
import type { Kind } from '../kind.ts';

export interface AbsentFacts {
  readonly kind: Kind;
  /** What a node of the kind has when nothing is given; keys that are not there are not kept. `undefined`: only what was given. */
  readonly defaults: (given: Properties) => Properties;
  /** Kept and not shown. */
  readonly hidden?: readonly string[];
  /** Name of the established class of errors, for controllers. */
  readonly exception: string;
  /** What is missing, as a sentence, and what to do. */
  readonly missing: string;
}

export function absentDriver(facts: AbsentFacts): Driver {
  const { kind, defaults, hidden = [] } = facts;
  const complete = (given: Properties): Properties => Object.freeze(withDefaults(defaults(given), given));
  return {
    kind,
    create: async (input) => complete(input),
    update: async (current, changes) => complete({ ...current, ...changes }),
    present: (properties) => Object.fromEntries(Object.entries(properties).filter(([key]) => !hidden.includes(key))),
    async start({ name }) {
      throw emulatorAbsent(facts, `start ${name}`);
    },
    adopt: async () => undefined,
  };
}

/** Refuses what needs the emulator. */
export function emulatorAbsent({ missing, exception }: Pick<AbsentFacts, 'missing' | 'exception'>, what: string): Error {
  return fault('emulator_absent', { what, reason: missing }, { extra: { exception } });
}

/** Refuses, for a node that is there. @throws node_not_found, project_not_found, emulator_absent */
export function refuseFor(facts: AbsentFacts, nodes: NodeAccess, what: string) {
  return ({ path }: { readonly path: { project_id: string; node_id: string } }): Promise<never> =>
    nodes.whileStopped(path, what, async ({ name }) => {
      throw emulatorAbsent(facts, `${what} of ${name}`);
    });
}

/** As the image folder shows it; one that is not here stays as it was given, as nothing here reads it. */
export async function acceptIfThere(images: ImageFolder, reference: string, projectDirectory: string): Promise<string> {
  return images.accept(reference, projectDirectory).catch((error: unknown) => {
    if (isFault(error, 'image_missing')) return reference;
    throw error;
  });
}

/** The smallest number that no other node has. */
export function lowestFree(taken: ReadonlySet<unknown>, first: number, last: number): number | undefined {
  for (let number = first; number <= last; number++) if (!taken.has(number)) return number;
  return undefined;
}

function withDefaults(defaults: Properties, given: Properties): Record<string, unknown> {
  return Object.fromEntries(Object.entries(defaults).map(([key, standard]) => [key, given[key] ?? standard]));
}
