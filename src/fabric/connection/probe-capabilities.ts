/** Finds out which capabilities a fabric would have on this host, by a process that ends at once. `enter`: words before its command. */
import { resolve } from 'node:path';
import { runTool } from '../../process/tool.ts';
import type { FabricCapabilities } from '../protocol.ts';

const limitMs = 30_000;

export async function probeCapabilities(enter: readonly string[] = []): Promise<FabricCapabilities> {
  const main = resolve(import.meta.dirname, '../main.ts');
  const [program = '', ...args] = [...enter, process.execPath, main, '--capabilities'];
  const { code, stdout, reason } = await runTool(program, args, { timeoutMs: limitMs });
  return code === 0 ? (JSON.parse(stdout) as FabricCapabilities) : { taps: false, kernelObstacle: reason, linkObstacle: reason };
}
