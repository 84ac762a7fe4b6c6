/** The fabric of a compute: its place, and what its log says of it. */
import { join } from 'node:path';
import type { Host } from '../emulators/host/host.ts';
import { FabricClient } from '../fabric/client.ts';
import { bootMs } from '../lib/boot-clock.ts';
import type { MachineLease } from './context.ts';

/** Makes the client; the fabric is found or started with its first request. */
export function fabricOf(runDirectory: string, logPath: string, lease: MachineLease, log: Host['log']): FabricClient {
  const place = { socketPath: join(runDirectory, 'fabric.sock'), runDirectory, logPath };
  const fabric = new FabricClient(place, () => !lease.isOver && (!lease.isSlice || bootMs() < lease.deadline));
  fabric.onLost((reason) => log('error', `the fabric was lost and is started again: ${reason}`));
  fabric.onRestored(({ failures, isNew, pcs }) => {
    if (isNew && pcs > 0) log('warning', `${pcs} PCs run again with their addresses; what they were doing is lost`);
    for (const failure of failures) log('error', `link ${failure.id} is not up again: ${failure.error}`);
  });
  return fabric;
}

/** Removes PCs that a server made and did not note before it died. @throws fabric_unavailable */
export async function removeUnownedPcs(fabric: FabricClient, log: Host['log']): Promise<void> {
  await fabric.connect();
  await fabric.retainPcs().catch((error) => log('error', `PCs without an owner could not be removed: ${error}`));
}
