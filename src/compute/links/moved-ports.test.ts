import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { FabricHolds } from './held-links.ts';
import { MovedPorts } from './moved-ports.ts';
import type { FabricWiring } from './wiring.ts';

const end = { nodeId: 'VM', adapter: 0, port: 0 };
const nio = { lport: 10_000, rport: 10_001 };

async function movedPorts(context: TestContext, log: (message: string) => void = assert.fail) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const folder = await mkdtemp(join(tmpdir(), 'moved-ports-'));
  context.after(() => rm(folder, { recursive: true }));
  const asked: string[] = [];
  let released = Promise.withResolvers<void>();
  const fabric = {
    hold: async () => void asked.push('hold'),
    saveFrames: async (file: string) => {
      await writeFile(file, 'frames');
      return 3;
    },
    loadFrames: async () => void asked.push('load'),
    filterStates: async () => [[{ type: 'bandwidth', random: [], position: 5 }], []],
    continueFilters: async (_places: unknown, [[state]]: [[{ type: string }]]) => void asked.push(state.type),
    release: async () => {
      asked.push('release');
      released.resolve();
      released = Promise.withResolvers();
    },
  } as unknown as FabricHolds;
  const wiring = { find: () => undefined, placeOf: () => ({ linkId: 'link', side: 'a' }) } as unknown as FabricWiring;
  const ports = new MovedPorts(fabric, wiring, folder, log);
  return { ports, fabric, asked, timers: context.mock.timers, nextRelease: () => released.promise, files: () => readdir(folder) };
}

test('frames that wait leave when their controller has died, and no file of them is left', async (context) => {
  const { ports, asked, timers, nextRelease, files } = await movedPorts(context);
  assert.equal(await ports.begin(end, nio, async () => undefined), 3);
  assert.deepEqual([await files(), asked.splice(0)], [['moved-10000'], ['hold', 'bandwidth']]);
  const release = nextRelease();
  timers.tick(4000);
  await release;
  // The end of the port waits until the file is removed.
  await ports.end(end);
  while ((await files()).length > 0);
  assert.deepEqual([await files(), asked], [[], ['load', 'release']]);
});

test('a port that is moved once more has its frames released once each time', async (context) => {
  const { ports, asked, timers, files } = await movedPorts(context);
  await ports.begin(end, nio, async () => undefined);
  await ports.begin(end, { lport: 10_002, rport: 10_003 }, async () => undefined);
  assert.deepEqual(
    [await files(), asked.splice(0)],
    [['moved-10002'], ['hold', 'bandwidth', 'load', 'release', 'hold', 'bandwidth']],
  );
  await ports.end(end);
  timers.tick(10_000);
  assert.deepEqual([await files(), asked], [[], ['load', 'release']]);
});

test('a fabric that fails once it holds the frames lets them leave for the new place at once', async (context) => {
  const logged: string[] = [];
  const { ports, fabric, asked, files } = await movedPorts(context, (message) => logged.push(message));
  fabric.filterStates = () => Promise.reject(new Error('it is being restarted'));
  await ports.begin(end, nio, async () => void asked.push('bind'));
  assert.deepEqual([asked, await files()], [['hold', 'bind', 'release'], []]);
  assert.match(logged.join(), /not held: .*restarted/);
});
