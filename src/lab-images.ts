/** `patchbay images`: builds the container images of the example labs with the demo's script. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const script = join(import.meta.dirname, '../demo/containers/build.ts');

/** Runs the script. `args`: the socket of the container engine. @returns the exit code */
export async function makeLabImages(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [script, ...args], { stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}
