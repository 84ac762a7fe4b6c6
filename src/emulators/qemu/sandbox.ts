/** The filter of system calls that QEMU puts on itself: what a guest that broke out of its machine could still ask of the kernel. */
import { runTool } from '../../process/tool.ts';
import { hasOption } from './options.ts';

/** Options whose work programs of the host do: scripts of network interfaces, windows. They need `-sandbox …,spawn=allow`. */
const runPrograms = ['netdev', 'nic', 'display', 'sdl', 'gtk', 'audiodev'];
/** Printed late, when the filter is in place; nothing of it needs a machine. */
const probeArguments = ['-machine', 'none', '-nodefaults', '-display', 'none', '-netdev', 'help'];
const probeLimitMs = 10_000;

/** Value of `-sandbox` for a machine with these options. */
export function sandboxFor(options: readonly string[]): string {
  const spawn = hasOption(options, ...runPrograms) ? 'allow' : 'deny';
  return `on,obsolete=deny,elevateprivileges=deny,spawn=${spawn},resourcecontrol=deny`;
}

/** Which emulators can do it, on this kernel. Each is asked once. */
export class Sandboxes {
  readonly #verdicts = new Map<string, Promise<boolean>>();

  isUsable(program: string): Promise<boolean> {
    const verdict = this.#verdicts.get(program) ?? this.#probe(program);
    this.#verdicts.set(program, verdict);
    return verdict;
  }

  async #probe(program: string): Promise<boolean> {
    const { code } = await runTool(program, ['-sandbox', sandboxFor([]), ...probeArguments], { timeoutMs: probeLimitMs });
    // One that did not end in time, on a busy machine, may the next time.
    if (code === undefined) this.#verdicts.delete(program);
    return code === 0;
  }
}
