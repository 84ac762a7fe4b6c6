/**
 * A machine with a disk and a TCP connection over a link of 50 ms moves to another server's compute while it runs, and back; then servers and
 * machines are killed in the midst of moves: it always runs at exactly one place, with what it remembers.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { Console } from '../../demo/console.ts';
import { ensureGuest } from '../../demo/guest/guest.ts';
import { machineProperties } from '../../demo/topology.ts';
import type { NodeMigration } from '../../src/schema/move.ts';
import { killProcesses, processesOf } from '../support/leftovers.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { findSlice, startSlice, type TestSlice, untilSlice } from '../support/slices.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody } from '../support/with-server.ts';
import { makeChance } from './random.ts';

const limitMs = 120_000;
/** Number of kills, `PATCHBAY_TEST_KILLS` as in `kill.test.ts`; the rounds of each kind are a sixth of it. */
const long = Number(process.env.PATCHBAY_TEST_KILLS) || 0;
const rounds = Math.max(1, Math.floor(long / 6));
const chance = makeChance();
console.log(`seed ${chance.seed}`);
const config = { Qemu: { acceleration: 'off' } };
// A busy host keeps the lease of its slice.
const server = await startServer({ stopNodes: false, config: { ...config, Cluster: { lease_seconds: 60 } } });
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());
/** Server of the compute that machines move to: in the short form a slice, and otherwise a server with a password. */
const { server: far, id: computeId } = long > 0 ? await startFar() : await startSlice(client, server.url);
after(() => far.stop());

async function startFar(): Promise<TestSlice> {
  const [user, password] = ['teacher', 'correct-horse'];
  const other = await startServer({ stopNodes: false, config: { ...config, Server: { auth: true, user, password } } });
  const id = crypto.randomUUID();
  const place = { protocol: 'http', host: '127.0.0.1', port: other.port };
  await client.post('/v2/computes', { compute_id: id, name: 'far', ...place, user, password });
  return { server: other, id };
}

/** Names of images, as a slice takes no files outside of its image folders. */
const [kernel, initrd] = ['move-kernel', 'move-initrd'];
const guest = await ensureGuest();
for (const name of ['kernel', 'initrd'] as const) {
  const raw = await readFile(guest[name]);
  assert.equal((await client.send(`POST /v2/compute/qemu/images/move-${name}`, { raw })).status, 204);
}

const project = await createProject(client, { auto_close: false });
const machine = async (name: string) => {
  const found = (await client.get<NodeBody[]>(`${project.path}/nodes`)).find((node) => node.name === name);
  assert.ok(found);
  return found;
};

async function onConsole<T>(name: string, use: (console: Console) => Promise<T>): Promise<T> {
  const console = await Console.open((await machine(name)).console as number);
  try {
    return await use(console);
  } finally {
    console.close();
  }
}

/** Output of the guest's shell between two marks that its echo of the line does not show. */
async function printed(console: Console, command: string): Promise<string> {
  const output = await console.run(`echo "<""$(${command})"">"`, limitMs);
  return [...output.matchAll(/<([^<>"$]*)>/g)].at(-1)?.[1] ?? '';
}

async function numbers(): Promise<number> {
  const follow = `awk '{ if (n++ && $1 != last + 1) gaps++; last = $1 } END { print n + 0, gaps + 0 }' /tmp/stream`;
  const text = await onConsole('VM2', (console) => printed(console, follow));
  const [count = 0, gaps] = text.split(' ').map(Number);
  assert.equal(gaps, 0, `stream ${text}`);
  return count;
}

async function continues(from = 0): Promise<number> {
  return waitFor(
    async () => {
      const now = await numbers();
      return now > from + 5 && now;
    },
    { what: 'the stream to continue', limitMs },
  );
}

async function withTraffic() {
  await client.post('/v2/compute/qemu/img', {
    ...{ qemu_img: 'qemu-img', path: 'move-base.qcow2', format: 'qcow2', size: 64 },
    ...{ cluster_size: 65536, preallocation: 'off' },
  });
  const make = (name: string, address: string, more: object) =>
    createNode(client, project, 'qemu', {
      name,
      properties: { ...machineProperties({ kernel, initrd }, name, [`${address}/24`]), ...more },
    });
  const disk = { hda_disk_image: 'move-base.qcow2', hda_disk_interface: 'virtio' };
  const [one, two] = [await make('VM1', '10.0.0.1', disk), await make('VM2', '10.0.0.2', {})];
  await client.post(`${project.path}/links`, { nodes: [end(one), end(two)], filters: { latency: [50] } });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  await untilReady('VM2');
  await untilReady('VM1');
  await onConsole('VM1', (console) => console.run('echo written > /dev/vda; sync', limitMs));
  await beginStream();
  return one;
}

const untilReady = (name: string) => onConsole(name, (console) => console.expect(/GUEST READY.*# $/s, limitMs));

/** Begins a stream from VM1, which has just booted, to VM2. */
async function beginStream(): Promise<void> {
  await onConsole('VM2', async (console) => {
    await console.run('killall nc sleep 2> /dev/null; rm -f /tmp/stream', limitMs);
    await console.run('(sleep 1000000 | nc -l -p 5000 > /tmp/stream &)', limitMs);
  });
  await onConsole('VM1', async (console) => {
    await waitFor(async () => /=0=/.test(await console.run('ping -c 1 -W 5 10.0.0.2', limitMs)), { what: 'an answer', limitMs });
    await console.run('((n=0; while :; do n=$((n+1)); echo $n; usleep 50000; done) | nc 10.0.0.2 5000 &)', limitMs);
    await console.run('echo remembered > /tmp/word', limitMs);
  });
}

const migrate = (node: NodeBody, to: string) =>
  client.post<NodeMigration>(`${project.path}/nodes/${node.node_id}/migrate`, { compute_id: to }, 200);

const machines = (of: typeof server) =>
  processesOf(of.dataDir, of.runtimeDirectory).filter(({ commandLine }) => /^\S*qemu-system.*guest=VM1/.test(commandLine));

/** Nothing waits for the end of a move: no file of it, and none of frames. */
async function isSettled(): Promise<void> {
  const { path } = await client.get<{ path: string }>(project.path);
  const left = async () => {
    const folders = [path, ...[server, far].map(({ runtimeDirectory }) => join(runtimeDirectory, 'm'))];
    const names = await Promise.all(folders.map((folder) => readdir(folder).catch((): string[] => [])));
    return names.flat().filter((name) => /^\.?[\w.-]*move-|^moved-/.test(name));
  };
  await waitFor(async () => (await left()).length === 0, { what: 'the end of the move', limitMs });
}

/** The machine that was killed has ended, and boots again with its disk. */
async function bootsAgain(vm: NodeBody): Promise<void> {
  await waitFor(() => [server, far].every((one) => machines(one).length === 0), { what: 'no machine', limitMs });
  await isSettled();
  await client.post(`${project.path}/nodes/${vm.node_id}/start`, {}, 200);
  await untilReady('VM1');
  assert.equal(await onConsole('VM1', (console) => printed(console, 'head -c 7 /dev/vda')), 'written');
  await beginStream();
}

/** False: it was killed before it could run elsewhere. */
async function survives({ node_id }: NodeBody): Promise<boolean> {
  const status = await waitFor(
    async () => {
      const { status } = await client.get<NodeBody>(`${project.path}/nodes/${node_id}`);
      return status !== 'suspended' && status;
    },
    { what: 'the machine, running or ended', limitMs },
  );
  return status === 'started';
}

/**
 * Checks that the machine runs on one of the computes, with its memory and its disk, and nothing of it is left on the other one.
 */
async function isWhole(vm: NodeBody): Promise<string> {
  const now = await waitFor(
    async () => {
      const found = await client
        .get<NodeBody & { compute_id: string }>(`${project.path}/nodes/${vm.node_id}`)
        .catch(() => undefined);
      return found?.status === 'started' && found;
    },
    { what: 'the machine, running', limitMs },
  );
  const [here, there] = now.compute_id === 'local' ? [server, far] : [far, server];
  await waitFor(() => machines(there).length === 0 && machines(here).length === 1, { what: 'one machine', limitMs });
  const said = await onConsole('VM1', (console) => printed(console, 'head -c 7 /dev/vda; cat /tmp/word'));
  assert.equal(said, 'writtenremembered');
  await isSettled();
  return now.compute_id;
}

/** The other compute is slow: a snapshot does not wait for it, and keeps no other request waiting. */
async function withoutSnapshots(vm: NodeBody): Promise<NodeMigration> {
  process.kill(far.pid, 'SIGSTOP');
  try {
    const moved = migrate(vm, computeId);
    const moving = Promise.race([moved, waitFor(refusesSnapshot, { what: 'a snapshot that is refused', limitMs })]);
    await moving.finally(() => process.kill(far.pid, 'SIGCONT'));
    return await moved;
  } finally {
    process.kill(far.pid, 'SIGCONT');
  }
}

async function refusesSnapshot(): Promise<boolean> {
  const name = crypto.randomUUID();
  const reply = await client.send(`POST ${project.path}/snapshots`, { body: { name } });
  if (reply.status === 201) return false;
  assert.equal(reply.status, 409);
  assert.match(reply.json<{ message: string }>().message, /Wait until node VM1 .* has been moved/);
  return true;
}

test('a machine moves while it runs', { timeout: 1_200_000 }, async (t) => {
  const vm = await withTraffic();
  let before = await continues();
  await t.test('what cannot move says why, and a stopped node takes its files along', async () => {
    const pc = await createNode(client, project);
    const path = (node: NodeBody) => `${project.path}/nodes/${node.node_id}/migrate`;
    const refused = async (node: NodeBody, compute_id: string, words: RegExp) => {
      const answer = await client.post<{ message: string }>(path(node), { compute_id }, 409);
      assert.match(answer.message, words);
    };
    await refused(vm, 'local', /runs on .* already/);
    await client.post(path(vm), { compute_id: crypto.randomUUID() }, 404);
    const [{ link_id } = { link_id: '' }] = await client.get<{ link_id: string }[]>(`${project.path}/links`);
    await client.post(`${project.path}/links/${link_id}/start_capture`, {});
    await refused(vm, computeId, /is captured/);
    await client.post(`${project.path}/links/${link_id}/stop_capture`, {});
    await client.post(`${project.path}/nodes/${pc.node_id}/start`, {}, 200);
    await refused(pc, computeId, /nodes of its type cannot/);
    await client.post(`${project.path}/nodes/${pc.node_id}/stop`, {}, 200);
    const moved = await client.post<NodeMigration>(path(pc), { compute_id: computeId }, 200);
    assert.deepEqual([moved.live, moved.node.compute_id], [false, computeId]);
    await client.post(`${project.path}/nodes/${vm.node_id}/suspend`, {}, 200);
    await refused(vm, computeId, /is paused/);
    const facts = { program: 'qemu', release: '7.2', accelerator: 'tcg', cpu: '', ramId: 'ram', ramBytes: 0, uuid: '' };
    const offer = {
      machine: { ...facts, machine: 'virt,dumpdtb=/tmp/x', arguments: [], suspended: false },
      drives: [],
      images: [],
    };
    await client.post(`/v2/compute/projects/${project.id}/arrivals/${vm.node_id}`, offer, 400);
    await client.post(`${project.path}/nodes/${vm.node_id}/start`, {}, 200);
    await isWhole(vm);
  });

  let moveMs = 0;
  // The compute is drained in the short form, which brings the machine back.
  for (const to of long > 0 ? [computeId, 'local'] : [computeId]) {
    const moved = await (to === computeId ? withoutSnapshots(vm) : migrate(vm, to));
    console.log(JSON.stringify({ ...moved, node: undefined }));
    assert.equal(moved.node.compute_id, to);
    assert.equal(moved.node.status, 'started');
    before = await continues(before);
    const said = await onConsole('VM1', (console) => printed(console, 'head -c 7 /dev/vda; cat /tmp/word'));
    assert.equal(said, 'writtenremembered');
  }

  await t.test('a slice with two running machines is drained, and their connection continues', async () => {
    const slice = long > 0 ? await startSlice(client, server.url) : { server: far, id: computeId };
    try {
      const two = await machine('VM2');
      for (const node of long > 0 ? [vm, two] : [two]) {
        const moved = await migrate(node, slice.id);
        assert.equal(moved.node.compute_id, slice.id);
        // The first one has waited for a compute that stood still.
        moveMs = moved.total_ms;
      }
      before = await continues(before);
      await client.post(`/v2/slices/${slice.id}/drain`, {}, 202);
      await waitFor(async () => (await findSlice(client, slice.id))?.reason === 'its nodes have been moved', {
        what: 'the end of the drain',
        limitMs,
      });
      assert.deepEqual(
        processesOf(slice.server.dataDir, slice.server.runtimeDirectory).filter(({ commandLine }) => /^\S*qemu/.test(commandLine)),
        [],
      );
      before = await continues(before);
      const { compute_id } = await client.get<{ compute_id: string }>(`${project.path}/nodes/${two.node_id}`);
      // The kills during the switch need this node on the local compute.
      if (long > 0 && compute_id !== 'local') await migrate(two, 'local');
      await isWhole(vm);
      if (long > 0) return await client.delete(`/v2/slices/${slice.id}?force=true`);
      await client.post(`/v2/slices/${slice.id}/drain`, { drain: false }, 202);
      await untilSlice(client, slice.id, 'joined');
    } finally {
      if (long > 0) await slice.server.stop();
    }
  });
  let isAnswered = false;
  const kills: Record<string, (from: typeof server, to: typeof server) => Promise<void>> = {
    controller: async () => {
      await server.kill9();
      await server.restart();
    },
    // Frames wait in a file while the other end of the link is joined to the new place.
    'controller in the switch': async () => {
      const folder = join(server.runtimeDirectory, 'm');
      const isSwitching = async () => (await readdir(folder).catch((): string[] => [])).length > 0;
      await waitFor(async () => isAnswered || (await isSwitching()), { what: 'frames that wait', everyMs: 1, limitMs });
      if (isAnswered) return console.log('the switch was faster than the kill');
      // Each step of it takes some milliseconds.
      await pass(chance.between(0, 100));
      await server.kill9();
      await server.restart();
    },
    'other compute': async () => {
      await far.kill9();
      await far.restart();
    },
    fabric: async (from, to) => {
      const { dataDir, runtimeDirectory } = chance.next() < 0.5 ? from : to;
      killProcesses(
        processesOf(dataDir, runtimeDirectory)
          .filter(({ commandLine }) => /fabric\/main/.test(commandLine))
          .slice(0, 1),
      );
    },
    'machine that leaves': async (from) => killProcesses(machines(from)),
    // The last entry: a kill that comes after the move ends the machine that has arrived.
    'machine that receives': async (_from, { dataDir, runtimeDirectory }) => {
      const incoming = () =>
        processesOf(dataDir, runtimeDirectory).filter(({ commandLine }) => /guest=VM1.*-incoming/.test(commandLine));
      killProcesses(await waitFor(() => incoming().length > 0 && incoming(), { what: 'a machine that receives', everyMs: 1 }));
    },
  };
  for (const [what, kill] of Object.entries(kills)) {
    if (long === 0 && !/^controller$|receives/.test(what)) continue;
    const isReceiver = what === 'machine that receives';
    const isTimed = isReceiver || what === 'controller in the switch';
    await t.test(`${rounds} kills of the ${what}`, async () => {
      for (let round = 0; round < rounds; round++) {
        const at = await isWhole(vm);
        const [from, to] = at === 'local' ? [server, far] : [far, server];
        const path = `${project.path}/nodes/${vm.node_id}/migrate`;
        const asked = client.send(`POST ${path}`, { body: { compute_id: at === 'local' ? computeId : 'local' } }).then(
          (answer) => {
            if (answer.status !== 200) console.log(answer.text());
            return answer.status;
          },
          () => 0,
        );
        isAnswered = false;
        asked.finally(() => {
          isAnswered = true;
        });
        // The two servers of the move are killed as soon as it is time.
        const wait = isTimed ? 0 : chance.between(0, moveMs);
        await pass(wait);
        await kill(from, to);
        const status = await asked;
        if (isReceiver && (await client.get<{ compute_id: string }>(`${project.path}/nodes/${vm.node_id}`)).compute_id !== at)
          return t.diagnostic('the move was faster than the kill');
        if (what === 'machine that leaves' && !(await survives(vm))) {
          console.log(`${what} killed after ${wait} ms: ${status}, ended at ${at}`);
          assert.notEqual(status, 200);
          const { compute_id } = await client.get<{ compute_id: string }>(`${project.path}/nodes/${vm.node_id}`);
          assert.equal(compute_id, at, 'where its disk is');
          await bootsAgain(vm);
          before = await continues();
          continue;
        }
        const now = await isWhole(vm);
        console.log(`${what} killed after ${wait} ms: ${status}, at ${now} instead of ${at}`);
        if (status === 200) assert.notEqual(now, at, 'what was acknowledged stays');
        before = await continues(await numbers());
      }
    });
  }
});
