/**
 * The server is killed again and again, at random moments and under load, and started again on the same data directory:
 * acknowledged changes survive, acknowledged deletions too, running nodes keep running, and frames never stop.
 */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import type { ProjectPlacement } from '../../src/controller/placement/placement-request.ts';
import { processesOf } from '../support/leftovers.ts';
import { pcsOfFabric } from '../support/pcs-of-fabric.ts';
import { Pinger } from '../support/pinger.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, idleVm, type NodeBody, type ProjectHandle } from '../support/with-server.ts';
import { Facts } from './facts.ts';
import { NodeHammer, ProjectHammer, readFacts, type Situation } from './hammer.ts';
import { HistoryHammer } from './history-hammer.ts';
import { makeChance } from './random.ts';

/** `npm run fuzz` kills 110 times (two minutes), each time with another seed; `PATCHBAY_TEST_KILLS` sets another number. */
const total = Number(process.env.PATCHBAY_TEST_KILLS) || 10;
const kills = { underLoad: Math.ceil(total * 0.8), duringStart: Math.floor(total * 0.2) };
/** Pings every so many ms; one that is lost in 500 would be too many. */
const pingEveryMs = 20;

const server = await startServer({ stopNodes: false, config: { Qemu: { acceleration: 'off' } } });
after(() => server.stop());
const chance = makeChance();
console.log(`seed ${chance.seed}`);

interface Running {
  readonly project: ProjectHandle;
  readonly history: ProjectHandle;
  readonly vm: NodeBody;
  readonly vmPid: number;
  readonly pinger: Pinger;
}

const ends: (() => unknown)[] = [];
after(() => Promise.all(ends.map((finish) => finish())));

const machines = () =>
  processesOf(server.dataDir, server.runtimeDirectory).filter(({ commandLine }) => commandLine.includes('qemu-system-'));

/** A VM that runs, a vpcs that is pinged through the fabric, and two that are linked to each other. */
async function setUp(client: RawClient): Promise<Running> {
  const project = await createProject(client, { name: 'main', auto_close: false });
  const vm = await createNode(client, project, 'qemu', { name: 'VM', properties: idleVm });
  const peer = await createNode(client, project, 'vpcs', { name: 'peer' });
  await client.post(`${project.path}/links`, { nodes: [end(vm), end(peer)], filters: { latency: [1] } });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const history = await createProject(client, { name: 'history', auto_close: false });
  // A project that only the compute knows, as one of another controller's would be.
  const { project_id } = await client.post<{ project_id: string }>('/v2/compute/projects', { name: 'pinged' });
  const nodes = `/v2/compute/projects/${project_id}/vpcs/nodes`;
  const { node_id } = await client.post<NodeBody>(nodes, { name: 'pinged', startup_script: 'ip 10.0.0.2 255.255.255.0\n' });
  const pinger = await Pinger.open('10.0.0.2', async (rport) => {
    const { udp_port: lport } = await client.post<{ udp_port: number }>(`/v2/compute/projects/${project_id}/ports/udp`);
    await client.post(`${nodes}/${node_id}/adapters/0/ports/0/nio`, { type: 'nio_udp', lport, rhost: '127.0.0.1', rport });
    return lport;
  });
  ends.push(() => pinger.finish());
  await client.post(`${nodes}/${node_id}/start`, {}, 200);
  await pinger.find();
  const [process] = machines();
  assert.ok(process);
  return { project, history, vm, vmPid: process.pid, pinger };
}

/** A start that was not answered is carried out once the server runs again, if it was recorded. */
async function isSettled(client: RawClient, project: string): Promise<boolean> {
  const placement = await client.get<ProjectPlacement>(`${project}/placement`);
  const wanted = new Map(placement.nodes.map((node) => [node.node_id, node.wanted === 'running']));
  const nodes = await client.get<NodeBody[]>(`${project}/nodes`);
  return nodes.every(({ node_id, status }) => wanted.get(node_id) === (status !== 'stopped'));
}

/** Invariants of every running server. */
async function verify(client: RawClient, running: Running, facts: Facts, history: HistoryHammer): Promise<string[]> {
  const { project, vm, vmPid } = running;
  await waitFor(() => isSettled(client, project.path), { what: 'nodes that run as they are wanted', everyMs: 50 });
  const shown = await readFacts(client, project.path);
  shown.set(...(await history.read(client)));
  const problems = facts.check(shown);
  if (shown.get(`status:${vm.node_id}`) !== 'started') problems.push(`the VM is ${shown.get(`status:${vm.node_id}`)}`);
  const qemu = machines();
  if (qemu.map(({ pid }) => pid).join() !== String(vmPid))
    problems.push(`the VM was ${vmPid}, there are ${qemu.map(({ pid }) => pid).join()}`);
  const started = [...shown].filter(([key, value]) => key.startsWith('status:') && value === 'started').length - 1;
  // The PC that is pinged is in another project.
  const { length } = await pcsOfFabric(server);
  if (length !== started + 1) problems.push(`${length} PCs for ${started} + 1 nodes that are started`);
  const folders = await readdir(join(server.dataDir, 'projects'));
  const known = new Set([...shown.keys()].filter((key) => key.startsWith('project:')).map((key) => key.slice(8)));
  const computeOnly = await client.get<{ project_id: string }[]>('/v2/compute/projects');
  for (const { project_id } of computeOnly) known.add(project_id);
  for (const folder of folders.filter((name) => !known.has(name))) {
    const content = await readdir(join(server.dataDir, 'projects', folder));
    problems.push(`the folder ${folder} belongs to no project: [${content.join()}]`);
  }
  return problems;
}

test(`${kills.underLoad} kills under load, ${kills.duringStart} during start-up`, { timeout: 600_000 }, async () => {
  const first = new RawClient(server.url);
  const running = await setUp(first);
  const facts = new Facts();
  facts.done(Object.fromEntries(await readFacts(first, running.project.path)));
  first.close();
  const situation: Situation = { project: running.project.path, facts, chance, refusals: [] };
  const hammers = [1, 2, 3].map(() => new NodeHammer(situation, first));
  const projectHammer = new ProjectHammer(situation, first);
  const history = new HistoryHammer(situation, first, { ...running.history, name: 'history' });
  const all = [...hammers, projectHammer, history];
  running.pinger.start(pingEveryMs);
  const began = performance.now();
  const starts: number[] = [];
  let startKills = 0;

  for (let round = 0; round < kills.underLoad; round++) {
    const client = new RawClient(server.url);
    const problems = await verify(client, running, facts, history);
    assert.deepEqual(problems, [], `after kill ${round + startKills}, seed ${chance.seed}\n${server.log().slice(-3000)}`);
    for (const hammer of all) hammer.client = client;
    const work = all.map((hammer) => hammer.run());
    await pass(chance.between(5, 400));
    await server.kill9();
    await Promise.all(work);
    client.close();
    assert.deepEqual(situation.refusals, [], `seed ${chance.seed}`);
    if (startKills < kills.duringStart && chance.next() < 0.3) {
      startKills += 1;
      await killDuringStart();
    }
    const startedAt = performance.now();
    await server.restart();
    starts.push(performance.now() - startedAt);
  }
  while (startKills < kills.duringStart) {
    startKills += 1;
    await server.kill9();
    await killDuringStart();
    await server.restart();
  }

  const client = new RawClient(server.url);
  assert.deepEqual(await verify(client, running, facts, history), [], `seed ${chance.seed}`);
  await running.pinger.finish(20_000);
  const { sent, answered, longestMs } = running.pinger;
  const changes = all.reduce((sum, { count }) => sum + count, 0);
  const [median, worst] = [starts.sort((a, b) => a - b)[starts.length >> 1] ?? 0, starts.at(-1) ?? 0];
  console.log(
    `${kills.underLoad + startKills} kills in ${((performance.now() - began) / 1000).toFixed(0)} s; ${changes} changes acknowledged; ` +
      `${sent} pings, ${sent - answered} lost, longest ${longestMs.toFixed(0)} ms; start ${median.toFixed(0)} ms at the median, ${worst.toFixed(0)} ms at most`,
  );
  assert.ok(sent - answered <= sent / 500, `${sent - answered} of ${sent} pings were lost`);
  await checkCopies(client, running);
  await checkConsole(client, running);
  client.close();
});

/** Whatever was duplicated and survived is whole: it can be opened. */
async function checkCopies(client: RawClient, { project }: Running): Promise<void> {
  for (const { project_id } of await client.get<{ project_id: string }[]>('/v2/projects')) {
    if (project_id === project.id) continue;
    await client.post(`/v2/projects/${project_id}/open`);
    await client.post(`/v2/projects/${project_id}/close`, {}, 204);
  }
}

async function killDuringStart(): Promise<void> {
  const pidBefore = server.pid;
  const restarting = server.restart().then(
    () => true,
    () => false,
  );
  await waitFor(() => server.pid !== pidBefore && server.running, { what: 'the new process', everyMs: 1 });
  await pass(chance.between(5, 400));
  await server.kill9();
  await restarting;
}

/** The console of the VM that ran all the time answers, and the VM can be stopped. */
async function checkConsole(client: RawClient, { project, vm }: Running): Promise<void> {
  const path = `${project.path}/nodes/${vm.node_id}`;
  const telnet = await openTelnet(vm.console as number);
  await client.post(`${path}/reload`, {}, 200);
  await telnet.expect(/iPXE|SeaBIOS/);
  telnet.close();
  await client.post(`${project.path}/nodes/stop`, {}, 204);
  assert.deepEqual(machines(), []);
}
