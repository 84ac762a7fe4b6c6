/**
 * Finds how emulators are confined here with the default configuration: files, processes, user, limits and filters of system calls.
 */
import { randomUUID } from 'node:crypto';
import { commandAs, findRunAs } from '../emulators/host/run-as.ts';
import { qemuKind } from '../emulators/qemu/kind.ts';
import { Sandboxes } from '../emulators/qemu/sandbox.ts';
import { bubblewrapObstacle } from '../process/bubblewrap/usable.ts';
import { runTool } from '../process/tool.ts';
import type { Finding } from '../schema/finding.ts';
import { defaultSettings } from '../schema/settings.ts';
import { confinedTypes } from './programs.ts';

const limitsName = 'limits of emulators';
const trialLimitMs = 5000;

/** Inspects the confinement. `emulator`: path of the emulator for the host's own architecture, if it is installed. */
export async function lookAtConfinement(emulator: string | undefined): Promise<Finding[]> {
  const [obstacle, user, filter] = await Promise.all([bubblewrapObstacle(), lookAtUser(), lookAtFilter(emulator)]);
  const what = 'confinement of emulators';
  const confinement: Finding =
    obstacle === undefined
      ? {
          state: 'good',
          what,
          found: 'each has a root folder with its own files, its own processes, and a filter of system calls (bubblewrap)',
        }
      : {
          state: 'note',
          what,
          node_types: [...confinedTypes],
          required: true,
          found: `none, so machines see the files and processes that their user sees, and nodes of ${confinedTypes.join(' and ')} do not start: ${obstacle}`,
        };
  return [confinement, ...user, filter];
}

/** Tries the user of emulators with a program that does nothing, and lists its limits. */
async function lookAtUser(): Promise<Finding[]> {
  const what = 'user of emulators';
  const [runAs, ofTools] = await Promise.all([findRunAs(defaultSettings(), randomUUID()), findRunAs(defaultSettings())]);
  if (runAs === undefined) {
    const own = `the server's own (${process.geteuid?.() ?? 'unknown'})`;
    return [
      { state: 'good', what, found: own },
      { state: 'good', what: limitsName, found: "the server's own" },
    ];
  }
  const { program, args } = commandAs(runAs, 'true', []);
  const { code, reason } = await runTool(program, args, { timeoutMs: trialLimitMs });
  const own =
    runAs.uid === ofTools?.uid ? `${runAs.uid}, which has no name` : `one of its own for each node; tools have ${ofTools?.uid}`;
  const name = runAs.user === runAs.uid ? own : runAs.user;
  if (code !== 0) {
    const found = `programs cannot be run as ${name}, so only with run_as = root in [Server]: ${reason}`;
    return [{ state: 'note', what, node_types: [qemuKind.type], found }];
  }
  const limits = runAs.limits.map((word) => word.replace(/^--/, '')).join(', ');
  return [
    { state: 'good', what, found: `${name}; run_as in [Server] names another` },
    { state: 'good', what: limitsName, found: `${limits} (prlimit)` },
  ];
}

async function lookAtFilter(emulator: string | undefined): Promise<Finding> {
  const what = 'system call filter';
  if (emulator === undefined)
    return { state: 'note', what, found: 'cannot be tried, as no emulator of this architecture is installed' };
  return (await new Sandboxes().isUsable(emulator))
    ? { state: 'good', what, found: 'usable: machines run in the sandbox of QEMU (seccomp)' }
    : { state: 'note', what, found: 'not usable: machines run without the sandbox of QEMU, or this QEMU has none' };
}
