/** When the machines of a slice have to end, for its guard: in the runtime folder, by the clock of this boot. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import { bootId } from '../lib/boot-clock.ts';

export interface LeaseDeadline {
  /** `bootMs()`. */
  readonly deadline: number;
  /** Of another boot: nothing of that one runs any more. */
  readonly boot: string;
  /** Of the guard that has to look; any other one ends. */
  readonly guard: number;
}

export function leaseFileOf(runtimeDirectory: string): string {
  return join(runtimeDirectory, 'lease.json');
}

export async function writeDeadline(path: string, deadline: number, guard: number): Promise<void> {
  const content: LeaseDeadline = { deadline, boot: bootId(), guard };
  await writeFileAtomic(path, `${JSON.stringify(content)}\n`, 0o600);
}

/** Undefined: there is none, or it is damaged. */
export async function readDeadline(path: string): Promise<LeaseDeadline | undefined> {
  try {
    const { deadline, boot, guard } = JSON.parse(await readFile(path, 'utf8')) as Partial<LeaseDeadline>;
    return typeof deadline === 'number' && typeof boot === 'string' && typeof guard === 'number'
      ? { deadline, boot, guard }
      : undefined;
  } catch {
    return undefined;
  }
}

export async function removeDeadline(path: string): Promise<void> {
  await rm(path, { force: true });
}
