/** What a fabric could do on this host, tried by a process that ends at once. */
import { fileURLToPath } from 'node:url';
import { runTool } from '../../process/tool.ts';
import type { FabricCapabilities } from '../protocol.ts';

const limitMs = 30_000;

export async function probeCapabilities(): Promise<FabricCapabilities> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  const { code, stdout, reason } = await runTool(process.execPath, [main, '--capabilities'], { timeoutMs: limitMs });
  return code === 0 ? (JSON.parse(stdout) as FabricCapabilities) : { taps: false, kernelObstacle: reason, linkObstacle: reason };
}
