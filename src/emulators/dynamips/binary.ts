/** Finds the dynamips program. */
import { stat } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { librariesOf } from '../host/confinement/private-root.ts';
import { findProgram } from '../host/find-program.ts';
import { howToGet } from './kind.ts';

export interface DynamipsBinary {
  readonly path: string;
  /** Libraries that its dynamic linker loads, absolute paths. */
  readonly libraries: readonly string[];
}

export class DynamipsBinaries {
  readonly #known = new Map<string, DynamipsBinary & { readonly stamp: string }>();

  /** The program that the setting names: a path, or a name that is looked for in PATH. @throws dynamips_failed with what to do */
  async find(setting: string): Promise<DynamipsBinary> {
    const path = await findProgram(setting);
    if (path === undefined) {
      const reason = `The program "${setting}" was not found on this compute. ${howToGet}, or set dynamips_path in [Dynamips]`;
      throw fault('dynamips_failed', { reason });
    }
    const { mtimeMs, size, ino } = await stat(path);
    const stamp = `${mtimeMs} ${size} ${ino}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known;
    const binary = { path, libraries: await librariesOf(path), stamp };
    this.#known.set(path, binary);
    return binary;
  }
}
