/** Words for ports and addresses that a node was to have and did not get. */
import type { NodeEntry } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';

/** Says that a node has another port or address than was wanted for it. */
export function unmetWish(name: string, what: string, wanted: unknown, given: unknown): string {
  const has = given === null || given === undefined ? 'none' : String(given);
  return `${name} did not get the ${what} ${wanted}: it has ${has}. It is in use, or outside of the range that the compute gives out`;
}

/** Warns listeners where a node did not get the console port that its project has for it. */
export function warnOfConsole(
  { notify }: Pick<ProjectContext, 'notify'>,
  { name, console }: NodeEntry,
  wanted: number | null,
): void {
  if (wanted !== null && console !== wanted) notify('log.warning', { message: unmetWish(name, 'console port', wanted, console) });
}
