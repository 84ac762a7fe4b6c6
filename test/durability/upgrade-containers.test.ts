/** Containers that a server of commit e7e504bb started are adopted by this version: with their addresses, and their link. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { earlierProgram, noEarlierVersion } from '../support/earlier-version/earlier-version.ts';
import { RawClient } from '../support/raw-http.ts';
import { serverProgram, startServer } from '../support/server.ts';
import { openTelnet } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody } from '../support/with-server.ts';

const limitMs = 60_000;
const skip = (await noEarlierVersion()) ?? (await noEngine());

async function shell(node: NodeBody, line: string, shows: RegExp): Promise<void> {
  const telnet = await openTelnet(node.console as number);
  try {
    telnet.send(`${line}\r`);
    await telnet.expect(shows, 20_000);
  } finally {
    telnet.close();
  }
}

const untilAnswers = (node: NodeBody) =>
  waitFor(() => shell(node, 'ping -c 2 -W 5 10.8.0.2; echo en""d', / 0% packet loss.*end/s).then(() => true), {
    what: 'a ping',
    limitMs,
  });

describe('containers of e7e504bb', { skip, timeout: 180_000 }, () => {
  test('keep their addresses and their link; they stop and start again', async () => {
    const engine = await DockerEngine.start();
    after(() => engine.stop());
    const config = { Docker: { socket_path: engine.socket }, Qemu: { acceleration: 'off' } };
    const server = await startServer({ program: await earlierProgram(), stopNodes: false, config });
    after(() => server.stop());
    const client = new RawClient(server.url);
    after(() => client.close());
    const project = await createProject(client, { auto_close: false });
    const nodes: NodeBody[] = [];
    for (const address of ['10.8.0.1', '10.8.0.2']) {
      const node = await createNode(client, project, 'docker', { properties: { image: 'pb-test' }, console_type: 'telnet' });
      await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
      await shell(node, `ip addr add ${address}/24 dev eth0; echo do""ne`, /done/);
      nodes.push(node);
    }
    const [one, two] = nodes as [NodeBody, NodeBody];
    await client.post(`${project.path}/links`, { nodes: [end(one), end(two)] });
    await untilAnswers(one);
    await server.kill9();
    await server.restart(serverProgram);
    await waitFor(async () => (await client.get<{ status: string }>(project.path)).status === 'opened', {
      what: 'the project, opened',
      limitMs,
    });
    const found = await client.get<NodeBody[]>(`${project.path}/nodes`);
    assert.deepEqual(
      found.map(({ status }) => status),
      ['started', 'started'],
    );
    await untilAnswers(one);
    await client.post(`${project.path}/nodes/${two.node_id}/stop`, {}, 200);
    await client.post(`${project.path}/nodes/${two.node_id}/start`, {}, 200);
    await shell(two, 'ip addr add 10.8.0.2/24 dev eth0; echo do""ne', /done/);
    await untilAnswers(one);
    await client.delete(project.path);
  });
});
