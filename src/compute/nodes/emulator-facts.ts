/** Reads facts about this host from the record of a running emulator. Each driver has its own record; some keys are common. */
import type { Emulator } from '../../emulators/driver.ts';

/** Process ids: the values of `pid`. */
export function pidsOf(emulator: Emulator | undefined): number[] {
  return valuesOf(emulator, ['pid']).filter((value) => typeof value === 'number');
}

/** Network interfaces that were made for it: the values of `tap`, `hostEnd` and `interface`. */
export function interfacesOf(emulator: Emulator | undefined): string[] {
  return valuesOf(emulator, ['tap', 'hostEnd', 'interface']).filter((value) => typeof value === 'string');
}

function valuesOf(emulator: Emulator | undefined, keys: readonly string[]): unknown[] {
  const values: unknown[] = [];
  const collect = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      if (keys.includes(key) && typeof part !== 'object') values.push(part);
      else collect(part);
    }
  };
  collect(emulator?.record);
  return values;
}
