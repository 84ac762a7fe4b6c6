/** Captures when the server is terminated and starts again, with its nodes kept running and with them stopped. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parsePcap } from '../support/pcap.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  type Bench,
  createNode,
  createProject,
  end,
  type NodeBody,
  type ProjectHandle,
  withServer,
} from '../support/with-server.ts';

const benches = {
  running: await withServer({ stopNodes: false }),
  stop: await withServer({ stopNodes: true }),
};

interface LinkBody {
  link_id: string;
  capturing: boolean;
  capture_compute_id: string | null;
  capture_file_name: string | null;
  capture_file_path: string | null;
}
const limits = { max_seconds: 3600, max_bytes: 50_000_000 };

/** Links between PCs, PCs and switches, and two switches, of which some PCs run; all but one are captured. */
async function makeLab({ client, server }: Bench) {
  const project = await createProject(client);
  const pc = () => createNode(client, project, 'vpcs');
  const pcs = await Promise.all(Array.from({ length: 8 }, pc));
  const switches = await Promise.all([1, 2].map(() => createNode(client, project, 'ethernet_switch')));
  const [one, two, three, idle, five, idleToo, seven, eight] = pcs as Tuple8;
  const [left, right] = switches as [NodeBody, NodeBody];
  const join2 = async (a: ReturnType<typeof end>, b: ReturnType<typeof end>) =>
    `${project.path}/links/${(await client.post<LinkBody>(`${project.path}/links`, { nodes: [a, b] })).link_id}`;
  const links = {
    running: await join2(end(one), end(two)),
    halfRunning: await join2(end(idle), end(three)),
    toSwitch: await join2(end(five), end(left, 0, 0)),
    stoppedToSwitch: await join2(end(idleToo), end(left, 0, 1)),
    switches: await join2(end(left, 0, 2), end(right, 0, 2)),
    ended: await join2(end(seven), end(eight)),
  };
  for (const node of [one, two, three, five, seven]) await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  for (const [name, path] of Object.entries(links)) {
    const more = name === 'toSwitch' || name === 'halfRunning' ? limits : {};
    await client.post(`${path}/start_capture`, { capture_file_name: `${name}.pcap`, ...more });
  }
  await client.post(`${links.ended}/stop_capture`);
  await client.post(`${links.running}/captures`, { capture_file_name: 'second.pcap', side: 'before', ...limits });
  const captures = join(server.dataDir, 'projects', project.id, 'project-files', 'captures');
  const frames = async (name: string) => parsePcap(await readFile(join(captures, `${name}.pcap`))).frames.length;
  return { project, pcs, links, one, five, frames };
}
type Tuple8 = [NodeBody, NodeBody, NodeBody, NodeBody, NodeBody, NodeBody, NodeBody, NodeBody];
type Lab = Awaited<ReturnType<typeof makeLab>>;

/** Every link with its captures, in order. */
async function seen({ client }: Bench, { project }: Lab) {
  const links = await client.get<LinkBody[]>(`${project.path}/links`);
  const one = async ({ link_id, ...link }: LinkBody) => ({
    link_id,
    capturing: link.capturing,
    capture_compute_id: link.capture_compute_id,
    capture_file_name: link.capture_file_name,
    capture_file_path: link.capture_file_path,
    others: await client.get(`${project.path}/links/${link_id}/captures`),
  });
  return Promise.all(links.map(one));
}

/** The node sends ARP requests for its own address. */
async function send({ client }: Bench, project: ProjectHandle, { node_id }: NodeBody): Promise<void> {
  const { console } = await client.get<NodeBody>(`${project.path}/nodes/${node_id}`);
  const telnet = await openTelnet(console as number);
  await skipHistory(telnet);
  await command(telnet, 'ip 10.0.0.1/24', /Checking/).finally(() => telnet.close());
}

async function writesOn(bench: Bench, lab: Lab): Promise<void> {
  const files = ['running', 'second', 'toSwitch'];
  const before = await Promise.all(files.map(lab.frames));
  await Promise.all([lab.one, lab.five].map((node) => send(bench, lab.project, node)));
  for (const [n, name] of files.entries())
    await waitFor(async () => (await lab.frames(name)) > (before[n] ?? 0), { what: `more frames in ${name}.pcap` });
}

describe('after SIGTERM and a start', () => {
  test('captures of nodes that keep running are unchanged, and are written', async () => {
    const bench = benches.running;
    const lab = await makeLab(bench);
    await writesOn(bench, lab);
    const before = await seen(bench, lab);
    assert.deepEqual(
      before.map(({ capturing }) => capturing),
      [true, true, true, true, true, false],
    );
    assert.equal(before[5]?.capture_file_name, 'ended.pcap');
    await bench.server.restart();
    assert.deepEqual(await seen(bench, lab), before);
    await writesOn(bench, lab);
  });

  test('captures of nodes that were stopped with the server are resumed when these are started', async () => {
    const bench = benches.stop;
    const lab = await makeLab(bench);
    await writesOn(bench, lab);
    const before = await seen(bench, lab);
    await bench.server.restart();
    const after = await seen(bench, lab);
    assert.deepEqual(
      after.map(({ capturing }) => capturing),
      [false, false, true, true, true, false],
    );
    const files = (links: typeof after) =>
      links.map(({ capture_file_name, capture_file_path }) => [capture_file_name, capture_file_path]);
    assert.deepEqual(files(after), files(before));
    await bench.client.post(`${lab.project.path}/nodes/start`, {}, 204);
    const isAsBefore = async () => assert.deepEqual(withoutTimes(await seen(bench, lab)), withoutTimes(before)) ?? true;
    await waitFor(isAsBefore, { what: 'the captures to be resumed' });
    await writesOn(bench, lab);
  });
});

/** Leaves out `ends_at`: the remaining time of a capture is counted in whole seconds when it is resumed. */
function withoutTimes(links: Awaited<ReturnType<typeof seen>>): unknown {
  return JSON.parse(JSON.stringify(links, (key, value: unknown) => (key === 'ends_at' ? undefined : value)));
}

test('a capture that is started while its node is being stopped ends with it', async () => {
  const { client } = benches.running;
  const project = await createProject(client);
  const pcs = await Promise.all(Array.from({ length: 12 }, () => createNode(client, project, 'vpcs')));
  const link = async (n: number) =>
    client.post<LinkBody>(`${project.path}/links`, { nodes: [end(pcs[n] as NodeBody), end(pcs[n + 1] as NodeBody)] });
  const paths: string[] = [];
  for (let n = 0; n < pcs.length; n += 2) paths.push(`${project.path}/links/${(await link(n)).link_id}`);
  const isCapturing = async (path: string) => (await client.get<LinkBody>(path)).capturing;
  const others = async (path: string) => (await client.get<unknown[]>(`${path}/captures`)).length;
  await client.post(`${project.path}/nodes/start`, {}, 204);
  // The stop waits for the process, the start of the capture for the stop.
  const stopped = pcs.map(({ node_id }) => client.send(`POST ${project.path}/nodes/${node_id}/stop`));
  const started = paths.flatMap((path) => [
    client.send(`POST ${path}/start_capture`, { body: {} }),
    client.send(`POST ${path}/captures`, { body: {} }),
  ]);
  const answers = (await Promise.all([...stopped, ...started])).slice(pcs.length);
  assert.deepEqual(
    answers.filter(({ status }) => status !== 201 && status !== 409).map((answer) => answer.text()),
    [],
  );
  for (const path of paths)
    await waitFor(async () => !(await isCapturing(path)) && (await others(path)) === 0, { what: 'the captures to end' });
  assert.deepEqual(await client.get(`${project.computePath}/captures`), []);
});
