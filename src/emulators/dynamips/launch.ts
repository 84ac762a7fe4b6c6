/** Starts a confined hypervisor and connects to its control port. */
import { rm } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { type Child, type Outcome, spawnChild } from '../../process/child.ts';
import { isServed, whenListeningInside } from '../../process/listening.ts';
import { processFacts } from '../../process/proc.ts';
import type { Ending } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { whenReady } from '../port-processes/port-processes.ts';
import { type ConfinedDynamips, confineDynamips, innerPorts, socketOf } from './confined.ts';
import { Hypervisor, HypervisorError } from './hypervisor.ts';
import type { Command } from './router-commands.ts';

export interface RunningHypervisor {
  readonly child: Child;
  readonly hypervisor: Hypervisor;
  /** A process in its namespaces, as the user that made them. */
  readonly namespacePid: number;
}

/** GNS3's rule. */
const oldestVersion = '0.2.11';

/** @throws dynamips_failed, confinement_failed, tool_missing; nothing is left then */
export async function launchHypervisor(host: Host, confined: ConfinedDynamips, logFile: string): Promise<RunningHypervisor> {
  const command = await confineDynamips(confined);
  // The emulator may have left a link in place of the log file.
  await rm(logFile, { force: true });
  const child = await spawnChild({ ...command, logFile, runDirectory: host.settings.runtimeDirectory });
  try {
    await requireListening(child);
    const hypervisor = await Hypervisor.connect(socketOf(confined.runtimeDirectory, 'control'));
    await requireVersion(hypervisor);
    await hypervisor.ask('hypervisor', 'working_dir', '/work');
    return { child, hypervisor, namespacePid: processFacts(child.pid)?.group ?? child.pid };
  } catch (error) {
    await child.stop({ graceMs: 0 });
    throw asFault(error);
  }
}

async function requireListening(child: Child): Promise<void> {
  const found = await whenListeningInside(child);
  if (found === 'timeout') throw failed(`Dynamips did not open its control port in time: ${await child.tail()}`);
  if (found !== 'listening') {
    // Said by the programs that come before it, in their own words.
    if (/^(bwrap|unshare|setpriv|prlimit|RTNETLINK)\b/m.test(found.tail))
      throw failed(
        `Dynamips cannot be confined on this compute, so it is not started. Permit network and mount namespaces: ${found.tail}`,
      );
    throw failed(endingOf(found).reason);
  }
  for (const port of Object.keys(innerPorts) as (keyof typeof innerPorts)[]) {
    const outcome = await whenReady(child, () => isServed(child.pid, `io/${port}`));
    if (outcome) throw failed(endingOf(outcome).reason);
  }
}

async function requireVersion(hypervisor: Hypervisor): Promise<void> {
  const { text } = await hypervisor.ask('hypervisor', 'version');
  const numbers = (version: string) => version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  const [found, oldest] = [numbers(text), numbers(oldestVersion)];
  const difference = oldest.map((number, index) => (found[index] ?? 0) - number).find((by) => by !== 0) ?? 0;
  if (difference < 0) throw failed(`Dynamips ${text} is too old: ${oldestVersion} or later is needed`);
}

/** Sends the commands one after the other. @throws dynamips_failed with the one that was refused */
export async function sendAll(hypervisor: Hypervisor, commands: readonly Command[]): Promise<void> {
  for (const command of commands) {
    await hypervisor.ask(...command).catch((error: unknown) => {
      throw asFault(error, command);
    });
  }
}

/** Refusals of the hypervisor become faults, others stay what they are. */
export function asFault(error: unknown, command?: Command): Error {
  if (!(error instanceof HypervisorError)) return error as Error;
  const [, verb, , slot, sub, module] = command ?? [];
  if (error.code === 0) return fault('dynamips_failed', { reason: `Dynamips does not answer: ${error.message}` }, { cause: error });
  const reason =
    verb === 'slot_add_binding'
      ? `Slot ${slot}${Number(sub) > 0 ? `, WIC bay ${Number(sub) / 16 - 1},` : ''} cannot take ${module} in this router: ${error.message}`
      : `Dynamips refuses ${command === undefined ? 'a command' : `"${command.slice(0, 2).join(' ')}"`}: ${error.message}`;
  return fault('dynamips_failed', { reason }, { cause: error });
}

export function failed(reason: string): Error {
  return fault('dynamips_failed', { reason });
}

export function endingOf({ how, code, signal, tail }: Outcome): Ending {
  const said = tail === '' ? '' : `: ${tail}`;
  if (how === 'stopped' || how === 'killed') return { how: 'stopped', reason: 'it was stopped' };
  if (how === 'failed-to-start') return { how: 'failed', reason: `Dynamips could not be started${said}` };
  if (how === 'lost') return { how: 'failed', reason: `Dynamips ended by itself${said}` };
  const cause = signal === undefined ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
  return { how: code === 0 ? 'exited' : 'failed', reason: `Dynamips ended with ${cause}${said}` };
}
