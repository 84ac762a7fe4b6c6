/** The filter of system calls that QEMU puts on itself: what a guest that broke out of its machine could still ask of the kernel. */
import { runTool } from '../../process/tool.ts';

/**
 * Value of `-sandbox`. No option of a machine changes it: programs of the host (scripts of network interfaces, helpers of windows and
 * sound) run for a machine only where the administrator sets `sandbox = False`.
 */
export const sandboxValue = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny';

/** Printed late, when the filter is in place; nothing of it needs a machine. */
const probeArguments = ['-machine', 'none', '-nodefaults', '-display', 'none', '-netdev', 'help'];
const probeLimitMs = 10_000;

/** Probes which emulators support the sandbox on this kernel. Each emulator is probed once. */
export class Sandboxes {
  readonly #verdicts = new Map<string, Promise<boolean>>();

  isUsable(program: string): Promise<boolean> {
    const verdict = this.#verdicts.get(program) ?? this.#probe(program);
    this.#verdicts.set(program, verdict);
    return verdict;
  }

  async #probe(program: string): Promise<boolean> {
    const { code } = await runTool(program, ['-sandbox', sandboxValue, ...probeArguments], { timeoutMs: probeLimitMs });
    // A probe that timed out on a busy machine may succeed the next time.
    if (code === undefined) this.#verdicts.delete(program);
    return code === 0;
  }
}
