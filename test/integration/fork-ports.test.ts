/** A fork on a compute that has too few ports for it: nothing of it is lost, and what lacks a port says so until there is one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import { notStartedMark, unusableMark } from '../../src/schema/problem-marks.ts';
import type { Project } from '../../src/schema/project.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const names = ['PC1', 'PC2', 'PC3'];
const firstPort = 24_310;
/** Consoles of the lab, and of one node of its fork; UDP ports of the lab's links, and of one link of its fork. */
const { client } = await withServer({
  config: {
    Server: {
      console_start_port_range: firstPort,
      console_end_port_range: firstPort + names.length + 1,
      udp_start_port_range: firstPort + 20,
      udp_end_port_range: firstPort + 25,
    },
  },
});

test('nodes and links of a fork that lack ports say so, and continue from their state once there are ports', async () => {
  const project = await createProject(client, { auto_close: false });
  const hub = await createNode(client, project, 'ethernet_hub', { name: 'hub' });
  for (const [index, name] of names.entries()) {
    const pc = await createNode(client, project, 'vpcs', { name });
    if (index < 2) await client.post(`${project.path}/links`, { nodes: [end(pc), end(hub, 0, index)] });
  }
  await client.post(`${project.path}/nodes/start`, {}, 204);
  const nodesOf = async (path: string) =>
    (await client.get<NodeBody[]>(`${path}/nodes`)).filter(({ name }) => names.includes(name));
  for (const { name, console } of await nodesOf(project.path)) {
    const typed = await openTelnet(console as number);
    typed.send(`ip 10.0.0.${names.indexOf(name) + 101}/24\r\n`);
    await typed.expect(/: 10\.0\.0\.10\d/, 10_000);
    typed.close();
  }
  const [fork] = await client.post<Project[]>(`${project.path}/fork`, { count: 1 });
  const path = `/v2/projects/${fork?.project_id}`;
  const made = await nodesOf(path);
  assert.deepEqual(made.map(({ name }) => name).sort(), names);
  const lacking = made.filter(({ status }) => status !== 'started');
  assert.equal(lacking.length, 1);
  for (const { command_line } of lacking) {
    assert.ok(
      [notStartedMark, unusableMark].some((mark) => String(command_line).startsWith(mark)),
      String(command_line),
    );
    assert.match(String(command_line), /console_start_port_range|console port/);
  }
  assert.equal((await client.get<object[]>(`${path}/links`)).length, 2);
  await client.delete(project.path);
  const reaches = async ({ node_id }: NodeBody, last: number) => {
    const probe = { type: 'ping', to: `10.0.0.${last}`, count: 1, timeout_ms: 500 };
    const answer = await client.send(`POST ${path}/nodes/${node_id}/probe`, { body: probe });
    return answer.status === 200 && (answer.json() as NodeProbeAnswer).received === 1;
  };
  for (const node of made) {
    const own = names.indexOf(node.name) + 101;
    await waitFor(() => reaches(node, own), { what: `${node.name} with its address`, limitMs: 30_000 });
  }
  const [first] = made.filter(({ name }) => name === 'PC1');
  await waitFor(() => reaches(first as NodeBody, 102), { what: 'an answer over both links', limitMs: 30_000 });
});
