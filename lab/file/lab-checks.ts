/** Reads `checks` and `test` of a lab file: resolves short forms, checks names of nodes. */
import { CheckError } from '../checks/definition/check-error.ts';
import { readFidelity } from '../checks/definition/fidelity-limits.ts';
import { readDuration } from '../checks/definition/quantities.ts';
import { readSteps } from '../checks/definition/read-steps.ts';
import type { LabTest, TestNode } from '../checks/definition/step-schema.ts';
import type { CheckStep } from '../checks/definition/steps.ts';
import { readFilters } from './filter-values.ts';
import type { LabTestSettings } from './lab.ts';
import { LabError, suggestion } from './lab-error.ts';
import { besideFile } from './lab-files.ts';
import type { LabFile } from './lab-schema.ts';
import { expandName } from './ranges.ts';
import type { Places } from './read-yaml.ts';

/** Reads the checks of one file. @throws LabError */
export function readLabChecks(
  { file, tree }: { readonly file: string; readonly tree: LabFile },
  nodes: ReadonlySet<string>,
  places: Places,
): CheckStep[] {
  return withPlace(tree, places, () =>
    readSteps(tree.checks ?? [], {
      path: ['checks'],
      filters: (given) => readFilters(given),
      filePath: (named) => besideFile(named, file),
      checkNode: (name) => checkNode(name, nodes),
    }),
  );
}

/** Reads the test settings of all files of a lab; the first file wins. @throws LabError */
export function readLabTest(trees: readonly LabFile[], nodes: ReadonlySet<string>, places: Places): LabTestSettings {
  const settings = new Map<string, TestNode>();
  let seed: number | undefined;
  let fidelity: NonNullable<LabTest['fidelity']> = {};
  for (const tree of trees.toReversed()) {
    withPlace(tree, places, () => {
      const { test } = tree;
      for (const [range, one] of Object.entries(test?.nodes ?? {})) {
        if (one.ready_within !== undefined) readDuration(one.ready_within);
        for (const { name } of expandName(range, places.of(test?.nodes ?? {}, range))) {
          checkNode(name, nodes);
          settings.set(name, { ...settings.get(name), ...one });
        }
      }
      seed = test?.seed ?? seed;
      fidelity = { ...fidelity, ...test?.fidelity };
      readFidelity(fidelity);
    });
  }
  return { seed, nodes: settings, fidelity };
}

function checkNode(name: string, nodes: ReadonlySet<string>): void {
  if (!nodes.has(name)) throw new Error(`there is no node "${name.slice(0, 100)}"${suggestion(name, [...nodes])}`);
}

function withPlace<T>(tree: LabFile, places: Places, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LabError) throw error;
    const path = error instanceof CheckError ? error.path : ['test'];
    throw new LabError((error as Error).message, places.at(tree, path.map(String)));
  }
}
