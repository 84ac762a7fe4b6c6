/** Checks that use the machine they run on: its SSH client and keys, and files beside the lab file. A server carries none of them out. */
import type { Lab } from '../../file/lab.ts';
import { LabError } from '../../file/lab-error.ts';
import { type CheckStep, isGroup } from '../definition/steps.ts';

/** Longest expression of a capture, characters: compiling a long one takes long. */
const longestFilter = 500;

/** @throws LabError */
export function refuseHost({ checks, test }: Lab): void {
  for (const [name, { platform = '', ssh }] of test.nodes) {
    if (ssh) throw refused(`${name} is reached by SSH`);
    if (/\.ya?ml$/.test(platform)) throw refused(`the platform of ${name} is a file`);
  }
  refuseSteps(checks);
}

function refuseSteps(steps: readonly CheckStep[]): void {
  for (const { name, by, what } of steps) {
    if (by === 'ssh') throw refused(`"${name}" is carried out by SSH`);
    if (what.verb === 'traffic' && what.packets.how === 'replay') throw refused(`"${name}" repeats a capture file`);
    if (!isGroup(what)) continue;
    if (what.verb === 'capture' && (what.filter?.length ?? 0) > longestFilter)
      throw new LabError(`the filter of "${name}" has more than ${longestFilter} characters: shorten it`);
    refuseSteps(what.steps);
  }
}

function refused(what: string): LabError {
  return new LabError(`${what}, which a server does not do for its clients. Run the checks by \`patchbay test\``);
}
