/** Stores for the guard when a slice's machines must end: in the runtime folder, by the clock of this boot. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import { bootId } from '../lib/boot-clock.ts';

export interface LeaseDeadline {
  /** Ms of `bootMs()`. */
  readonly deadline: number;
  /** Id of the boot; machines of another boot have ended with it. */
  readonly boot: string;
  /** Process id of the current guard; every other guard exits. */
  readonly guard: number;
}

export function leaseFileOf(runtimeDirectory: string): string {
  return join(runtimeDirectory, 'lease.json');
}

export async function writeDeadline(path: string, deadline: number, guard: number): Promise<void> {
  const content: LeaseDeadline = { deadline, boot: bootId(), guard };
  await writeFileAtomic(path, `${JSON.stringify(content)}\n`, 0o600);
}

/** Reads the deadline; undefined when the file is absent or damaged. */
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
