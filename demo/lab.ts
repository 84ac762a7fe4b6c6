/**
 * `node demo/lab.ts FOLDER`: builds the demo's guest if it is missing and copies it into a folder of images. Prints one JSON document per
 * line: `{"step"}` for progress, then `{"machines", "pc"}` or `{"failure"}`. The server runs it for its page (`src/demo-lab.ts`).
 */
import { copyFile, mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { cleanUpOnSignal } from './guest/debian.ts';
import { ensureGuest, type Guest } from './guest/guest.ts';
import { addresses, machineAddresses, machineProperties } from './topology.ts';

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

cleanUpOnSignal();

/** File names of the copies. */
const images: Guest = { kernel: 'patchbay-demo-kernel', initrd: 'patchbay-demo-initrd' };

try {
  const folder = process.argv[2] ?? '.';
  const guest = await ensureGuest((step) => say({ step }));
  await mkdir(folder, { recursive: true });
  for (const part of ['kernel', 'initrd'] as const) {
    const place = path.join(folder, images[part]);
    // Renamed when complete, so that no reader sees a partial file.
    await copyFile(guest[part], `${place}.${process.pid}`);
    await rename(`${place}.${process.pid}`, place);
  }
  const machines = Object.entries(machineAddresses).map(([name, ips]) => ({
    name,
    properties: machineProperties(images, name, ips),
  }));
  say({ machines, pc: { address: addresses.pc, gateway: addresses.vm2ToPc } });
} catch (error) {
  say({ failure: (error as Error).message });
}
