/** Finds the vpcs program and learns its version, once for each file: asked again only when the file has changed. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import { librariesOf } from '../host/confinement/private-root.ts';
import { findProgram } from '../host/find-program.ts';

export interface VpcsBinary {
  readonly path: string;
  /** As the program says it, such as `0.5b2` or `0.8.2`. */
  readonly version: string;
  /** What its dynamic linker loads, absolute paths. */
  readonly libraries: readonly string[];
}

const versionLimitMs = 5000;

export class VpcsBinaries {
  /** Path to the facts of the file and what it said. */
  readonly #known = new Map<string, VpcsBinary & { readonly stamp: string }>();

  /**
   * The program that the setting names: a path, or a name that is looked for in PATH.
   * @throws `vpcs_failed` with what to do
   */
  async find(setting: string): Promise<VpcsBinary> {
    const path = await findProgram(setting);
    if (path === undefined) {
      const reason = `The program "${setting}" was not found on this compute: install it (Debian: apt install vpcs), or set vpcs_path in [VPCS]`;
      throw fault('vpcs_failed', { reason });
    }
    const { mtimeMs, size, ino } = await stat(path);
    const stamp = `${mtimeMs} ${size} ${ino}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known;
    const output = await firstWords(path);
    const version = parseVersion(output);
    if (version === undefined) {
      const reason = `"${path}" does not say that it is vpcs: correct vpcs_path in [VPCS]. It said: ${output.slice(0, 400).trim() || 'nothing'}`;
      throw fault('vpcs_failed', { reason });
    }
    const binary = { path, version, libraries: await librariesOf(path), stamp };
    this.#known.set(path, binary);
    return binary;
  }
}

export function parseVersion(output: string): string | undefined {
  return /Welcome to Virtual PC Simulator, version\s+([\w.]+)/.exec(output)?.[1];
}

/** Whether `-R` (no relay) is known: from 0.8b on. Older versions end at once when they see it. */
export function knowsRelayOption(version: string): boolean {
  const [, major = '0', minor = '0', rest = ''] = /^(\d+)\.(\d+)(.*)$/.exec(version) ?? [];
  if (Number(major) > 0 || Number(minor) > 8) return true;
  return Number(minor) === 8 && rest !== '' && !rest.startsWith('a');
}

/** What the program prints for `-v`; its exit code means nothing. */
function firstWords(path: string): Promise<string> {
  return new Promise((done) => {
    const options = { timeout: versionLimitMs, maxBuffer: 64 * 1024, killSignal: 'SIGKILL' } as const;
    const child = execFile(path, ['-v'], options, (error, stdout, stderr) => done(`${stdout}${stderr}` || (error?.message ?? '')));
    child.stdin?.end();
  });
}
