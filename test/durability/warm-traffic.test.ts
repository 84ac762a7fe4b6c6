/**
 * Traffic that a freeze finds in flight. Two machines with pings and a TCP connection over a link of 300 ms are frozen, killed, rewound
 * and forked: in each of them every ping that was ever sent is answered, and the stream continues with the next number.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Console } from '../../demo/console.ts';
import { ensureGuest } from '../../demo/guest/guest.ts';
import { machineProperties } from '../../demo/topology.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { killProcesses, processesOf } from '../support/leftovers.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody } from '../support/with-server.ts';

/** `PATCHBAY_TEST_KILLS` as in `kill.test.ts`. */
const isLong = Number(process.env.PATCHBAY_TEST_KILLS) > 0;
const forkCount = isLong ? 10 : 2;
const limitMs = 120_000;

const server = await startServer({ stopNodes: false, config: { Qemu: { acceleration: 'off' } } });
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());
const { kernel, initrd } = await ensureGuest();

async function onConsole<T>(node: NodeBody, use: (console: Console) => Promise<T>): Promise<T> {
  const console = await Console.open(node.console as number);
  try {
    return await use(console);
  } finally {
    console.close();
  }
}

const nodesOf = (path: string) => client.get<NodeBody[]>(`${path}/nodes`);

async function machine(path: string, name: string): Promise<NodeBody> {
  const found = (await nodesOf(path)).find((node) => node.name === name);
  assert.ok(found);
  return found;
}

/** Output of the guest's shell between two marks that its echo of the line does not show. */
async function printed(console: Console, command: string): Promise<string> {
  const output = await console.run(`echo "<""$(${command})"">"`, limitMs);
  // The console replays what it showed before: the last one counts.
  return [...output.matchAll(/<([^<>"$]*)>/g)].at(-1)?.[1] ?? '';
}

/** Count of the numbers of the stream that have arrived; none is missing. */
async function numbers(path: string): Promise<number> {
  const follow = `awk '{ if (n++ && $1 != last + 1) gaps++; last = $1 } END { print n + 0, gaps + 0 }' /tmp/stream`;
  const text = await onConsole(await machine(path, 'VM2'), (console) => printed(console, follow));
  const [count = 0, gaps] = text.split(' ').map(Number);
  assert.equal(gaps, 0, `stream ${text}`);
  return count;
}

/** Settles when the stream has continued. Answers its numbers then. */
async function continues(path: string, from = 0): Promise<number> {
  return waitFor(
    async () => {
      const now = await numbers(path);
      return now > from + 5 && now;
    },
    { what: 'the stream to continue', limitMs },
  );
}

/** The stream continues, and every ping that was ever sent is answered. */
async function lostNothing(path: string, from: number): Promise<void> {
  await continues(path, from);
  const figures = `awk '/^Icmp:/ { for (i in name) if (name[i] ~ /InEchoReps|OutEchos/) print $i; split($0, name) }' /proc/net/snmp`;
  await onConsole(await machine(path, 'VM1'), async (console) => {
    await console.run('killall ping', limitMs);
    await waitFor(
      async () => {
        const [one, other] = (await printed(console, figures)).split(/\s+/);
        return Number(one) > 0 && one === other;
      },
      { what: 'an answer to every ping', limitMs },
    );
  });
}

async function withTraffic() {
  const project = await createProject(client, { auto_close: false });
  const make = (name: string, address: string) =>
    createNode(client, project, 'qemu', { name, properties: machineProperties({ kernel, initrd }, name, [`${address}/24`]) });
  const [one, two] = [await make('VM1', '10.0.0.1'), await make('VM2', '10.0.0.2')];
  await client.post(`${project.path}/links`, { nodes: [end(one), end(two)], filters: { latency: [300] } });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  for (const node of [two, one]) await onConsole(node, (console) => console.expect(/GUEST READY.*# $/s, limitMs));
  await onConsole(two, (console) => console.run('(sleep 1000000 | nc -l -p 5000 > /tmp/stream &)', limitMs));
  await onConsole(one, async (console) => {
    // The address is known before the first ping that counts.
    await waitFor(async () => /=0=/.test(await console.run('ping -c 1 -W 5 10.0.0.2', limitMs)), { what: 'an answer', limitMs });
    await console.run('(ping -i 0.2 10.0.0.2 > /dev/null &)', limitMs);
    await console.run('((n=0; while :; do n=$((n+1)); echo $n; usleep 100000; done) | nc 10.0.0.2 5000 &)', limitMs);
  });
  return project;
}

test('traffic continues after a freeze, a kill, a rewind and forks', { timeout: 1_200_000 }, async () => {
  const project = await withTraffic();
  const begun = await continues(project.path);
  const frozen = await client.post<Snapshot>(`${project.path}/snapshots`, { name: 'warm', memory: true });
  await continues(project.path, begun);
  const onSecond = async (use: (console: Console) => Promise<string>) => onConsole(await machine(project.path, 'VM2'), use);
  assert.match(await onSecond((console) => printed(console, 'touch /tmp/later; ls /tmp/later')), /later/);
  await waitFor(async () => (await client.get<Snapshot[]>(`${project.path}/snapshots`))[0]?.memory?.status === 'ready', {
    what: 'the end of the freeze',
    limitMs,
  });
  await server.kill9();
  killProcesses(processesOf(server.dataDir, server.runtimeDirectory));
  await server.restart();
  await waitFor(async () => (await client.get<Project>(project.path)).status === 'opened', {
    what: 'the project, opened',
    limitMs,
  });
  const snapshotPath = `${project.path}/snapshots/${frozen.snapshot_id}`;
  await client.post(`${snapshotPath}/restore`);
  const rewound = await numbers(project.path);
  assert.equal(await onSecond((console) => printed(console, 'ls /tmp/later 2> /dev/null')), '', 'a file of later is gone');
  await lostNothing(project.path, rewound);
  const forks = await client.post<Project[]>(`${snapshotPath}/fork`, { count: forkCount });
  for (const { project_id } of forks) await lostNothing(`/v2/projects/${project_id}`, rewound);
  for (const { project_id } of forks) await client.delete(`/v2/projects/${project_id}`);
  await client.delete(project.path);
});
