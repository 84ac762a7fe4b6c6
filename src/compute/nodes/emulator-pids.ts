import type { Emulator } from '../../emulators/driver.ts';

/** Process ids in the record of a running emulator; the records are the drivers', the key `pid` is common to them. */
export function pidsOf(emulator: Emulator | undefined): number[] {
  const pids: number[] = [];
  const collect = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      if (key === 'pid' && typeof part === 'number') pids.push(part);
      else collect(part);
    }
  };
  collect(emulator?.record);
  return pids;
}
