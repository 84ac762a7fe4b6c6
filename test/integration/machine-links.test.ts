/** Links between virtual machines on TAP interfaces: which way their frames take, what survives which death, and what stands on the host. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Console } from '../../demo/console.ts';
import { ensureGuest } from '../../demo/guest/guest.ts';
import { machineProperties } from '../../demo/topology.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { noContainerEnds } from '../support/container-end.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody } from '../support/with-server.ts';

/** For machines without hardware acceleration on a busy host. */
const limitMs = 300_000;
const skip = (await noContainerEnds()) ?? false;
const server = await startServer({
  stopNodes: false,
  config: { Qemu: { acceleration: 'off' } },
  env: { PATCHBAY_MACHINE_TAPS: 'on' },
});
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());
const { kernel, initrd } = await ensureGuest();
const hostInterfaces = () => readdirSync('/sys/class/net').filter((name) => /^pb[vtw]/.test(name));
const before = hostInterfaces();

interface Pair {
  readonly path: string;
  readonly link: string;
  readonly nodes: readonly [NodeBody, NodeBody];
}

async function pair(adapters: readonly [object, object] = [{}, {}]): Promise<Pair> {
  const project = await createProject(client, { auto_close: false });
  const make = (name: string, address: string, more: object) =>
    createNode(client, project, 'qemu', {
      name,
      properties: { ...machineProperties({ kernel, initrd }, name, [`${address}/24`]), ...more },
    });
  const nodes = [await make('VM1', '10.0.0.1', adapters[0]), await make('VM2', '10.0.0.2', adapters[1])] as const;
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  for (const node of nodes) await onConsole(node, (console) => console.expect(/GUEST READY.*# $/s, limitMs));
  return { path: project.path, link: `${project.path}/links/${link_id}`, nodes };
}

async function onConsole<T>(node: NodeBody, use: (console: Console) => Promise<T>): Promise<T> {
  const console = await Console.open(node.console as number);
  try {
    return await use(console);
  } finally {
    console.close();
  }
}

const stats = (link: string) => client.get<LinkStats>(`${link}/stats`);
const carriedBy = (link: string, carrier: string) =>
  waitFor(async () => (await stats(link)).carrier === carrier, { what: `the carrier ${carrier}`, limitMs: 20_000 });

/** Pings of VM1 to VM2 that were sent and answered, while `work` is done. */
async function pinged(node: NodeBody, work: () => Promise<void> = async () => {}, count = 20): Promise<[number, number]> {
  return onConsole(node, async (console) => {
    const output = console.run(`ping -i 0.1 -c ${count} 10.0.0.2`, limitMs);
    await work();
    return answered(await output);
  });
}

/** The console replays what it showed before: the last one counts. */
function answered(output: string): [number, number] {
  const found = [...output.matchAll(/(\d+) packets transmitted, (\d+) packets received/g)].at(-1);
  return [Number(found?.[1]), Number(found?.[2])];
}

const holder = async () =>
  JSON.parse(await readFile(join(server.runtimeDirectory, 'link-namespace.json'), 'utf8')) as { pid: number };
const fabricPid = () =>
  Number(
    /fabric (\d+) listens/.exec(
      readFileSync(join(server.dataDir, 'state/fabric.log'), 'utf8')
        .split('\n')
        .findLast((line) => line.includes('listens')) ?? '',
    )?.[1],
  );

test('the kernel carries a plain link between machines, and the fabric one with filters; nothing stands on the host', {
  skip,
  timeout: 900_000,
}, async (context) => {
  const lab = await pair();
  context.after(() => client.delete(lab.path));
  const [one] = lab.nodes;
  await carriedBy(lab.link, 'kernel');
  assert.deepEqual(hostInterfaces(), before);
  assert.deepEqual(await pinged(one), [20, 20]);
  const counted = await stats(lab.link);
  assert.ok((counted.directions[0]?.received_frames ?? 0) >= 20, JSON.stringify(counted));

  const ways = async () => {
    for (const filters of [{ delay: [5] }, {}, { latency: [2] }, {}]) await client.put(lab.link, { filters }, 201);
  };
  assert.deepEqual(await pinged(one, ways, 30), [30, 30]);
  await carriedBy(lab.link, 'kernel');

  await client.put(lab.link, { suspend: true }, 201);
  assert.equal((await pinged(one, undefined, 5))[1], 0);
  await client.put(lab.link, { suspend: false }, 201);
  await carriedBy(lab.link, 'kernel');

  // A server, a fabric and a holder that are killed lose no frame on this path.
  await onConsole(one, (console) => console.run('(ping -i 0.1 -c 100 10.0.0.2 > /tmp/pings; touch /tmp/end) & true', limitMs));
  process.kill(fabricPid(), 'SIGKILL');
  process.kill((await holder()).pid, 'SIGKILL');
  await server.kill9();
  await server.restart();
  const seen = await onConsole(one, (console) => console.run('while ! [ -e /tmp/end ]; do sleep 1; done; cat /tmp/pings', limitMs));
  assert.deepEqual(answered(seen), [100, 100]);
  await carriedBy(lab.link, 'kernel');
  await client.put(lab.link, { filters: { delay: [3] } }, 201);
  assert.deepEqual(await pinged(one), [20, 20]);
});
