/** Finds the lab file among the chosen files; the others are sent with it, as far as the server may need them. */
import type { PickedFile } from '../ui/picked-files.ts';

export interface LabFileSet {
  readonly main: PickedFile;
  /** Paths of all that could be the lab file. */
  readonly candidates: readonly string[];
  readonly all: readonly PickedFile[];
}

/** The server takes no larger ones. */
const mostBytes = 1024 * 1024;
const usualNames = ['lab.yaml', 'lab.yml', 'lab.json'];

/** `wanted`: the path of the one that the user chose. Undefined when none can be a lab file. */
export function labFileSet(all: readonly PickedFile[], wanted?: string): LabFileSet | undefined {
  const possible = all.filter(({ path }) => !path.includes('/') && /\.(ya?ml|json)$/i.test(path));
  const main =
    possible.find(({ path }) => path === wanted) ?? possible.find(({ path }) => usualNames.includes(path)) ?? possible[0] ?? all[0];
  return main && { main, candidates: possible.map(({ path }) => path).sort(), all };
}

/** Body of a request for a plan. */
export async function labRequestOf({ main, all }: LabFileSet) {
  const others = all.filter((one) => one !== main && one.file.size <= mostBytes);
  const files: Record<string, string> = {};
  for (const { path, file } of others) files[path] = await file.text();
  return { lab: await main.file.text(), file: main.path, ...(others.length > 0 && { files }) };
}
