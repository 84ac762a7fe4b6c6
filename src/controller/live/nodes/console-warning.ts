/** Warns of console ports that nodes of a project were to have and did not get. */
import { unmetWish } from '../../../schema/unmet-wish.ts';
import type { NodeEntry } from '../../model/topology.ts';
import type { ProjectContext } from '../host/project-context.ts';

/** Warns listeners where a node did not get the console port that its project has for it. */
export function warnOfConsole(
  { notify }: Pick<ProjectContext, 'notify'>,
  { name, console }: NodeEntry,
  wanted: number | null,
): void {
  if (wanted !== null && console !== wanted) notify('log.warning', { message: unmetWish(name, 'console port', wanted, console) });
}
