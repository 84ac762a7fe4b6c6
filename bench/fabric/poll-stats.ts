/** A server that polls the fabric for the counters of all links, in a thread of its own: its own CPU time does not count. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { connectedFabric } from '../../test/support/with-fabric.ts';

const { place, everyMs } = workerData as { place: { socketPath: string; logPath: string }; everyMs: number };
const client = await connectedFabric(place);
const tookMs: number[] = [];
let asking = true;
parentPort?.once('message', () => {
  asking = false;
});
while (asking) {
  const began = performance.now();
  await client.stats();
  tookMs.push(performance.now() - began);
  await sleep(everyMs);
}
client.close();
parentPort?.postMessage(tookMs);
