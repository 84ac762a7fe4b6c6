/** Redo restores every undone change: of kinds that run, that are stopped, and that always run, against a real server. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Undone } from '../../src/schema/history.ts';
import { makeChance } from '../durability/random.ts';
import { RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { type AskProject, topologyOf, UndoWalk, walk } from '../support/undo-walk.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const server = await startServer({ config: { Qemu: { acceleration: 'off' } } });
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());

const always = ['ethernet_switch', 'ethernet_hub', 'nat', 'cloud', 'frame_relay_switch', 'atm_switch'];

function askIn(project: ProjectHandle): AskProject {
  return async (line, body) => {
    const [method, path = ''] = line.split(' ');
    const reply = await client.send(`${method} ${project.path}${path}`, { ...(body && { body }), limitMs: 60_000 });
    assert.ok(reply.status < 300, `${line} ${JSON.stringify(body)}: ${reply.status} ${reply.text()}`);
    return reply.text() === '' ? undefined : reply.json();
  };
}

describe('undo and redo', () => {
  for (const kind of always) {
    it(`restore a deleted ${kind} with its link, as often as one likes`, async () => {
      const project = await createProject(client);
      const ask = askIn(project);
      const node = await createNode(client, project, kind);
      if (kind.startsWith('ethernet')) {
        const pc = await createNode(client, project);
        await ask('POST /links', { nodes: [end(node), end(pc)] });
      }
      const before = await topologyOf(ask);
      await ask(`DELETE /nodes/${node.node_id}`);
      for (let round = 0; round < 3; round++) {
        await ask('POST /undo');
        assert.deepEqual(await topologyOf(ask), before);
        const { status } = await client.get<NodeBody>(`${project.path}/nodes/${node.node_id}`);
        assert.equal(status, 'started');
        await ask('POST /redo');
      }
    });
  }

  it('restore the files in the folder of a node that always runs', async () => {
    const project = await createProject(client);
    const ask = askIn(project);
    const node = await createNode(client, project, 'nat');
    const file = `${project.path}/nodes/${node.node_id}/files/notes.txt`;
    await client.send(`POST ${file}`, { raw: Buffer.from('mine') });
    await ask(`DELETE /nodes/${node.node_id}`);
    await ask('POST /undo');
    assert.equal((await client.send(`GET ${file}`)).text(), 'mine');
  });

  it('take a bulk of every kind away and bring it back, and say before how much that is', async () => {
    const project = await createProject(client);
    const ask = askIn(project);
    const nodes = [...always, ...Array.from({ length: 24 }, () => 'vpcs')].map((node_type, n) => ({
      ...{ ref: `${n}`, name: 'N{0}', node_type, compute_id: 'local' },
    }));
    const links = Array.from({ length: 8 }, (_, port) => ({
      nodes: [
        { ref: '0', adapter_number: 0, port_number: port },
        { ref: String(10 + port), adapter_number: 0, port_number: 0 },
      ],
    }));
    await ask('POST /bulk', { nodes, links });
    const made = await topologyOf(ask);
    const { preview } = (await ask('GET /history')) as Undone;
    const counts = { nodes: nodes.length, links: links.length, drawings: 0 };
    assert.deepEqual(preview.undo, { ...preview.undo, ...counts, deletes: nodes.length + links.length, restores: 0 });
    assert.equal(preview.redo, null);
    const undone = (await ask('POST /undo')) as Undone;
    assert.deepEqual(await topologyOf(ask), [[], [], []]);
    assert.deepEqual(undone.preview.redo, { ...undone.preview.redo, ...counts, deletes: 0, restores: nodes.length + links.length });
    await ask('POST /redo');
    assert.deepEqual(await topologyOf(ask), made);
    await ask('POST /undo');
    await ask('POST /redo');
    assert.deepEqual(await topologyOf(ask), made);
  });

  it('lead to the same topology after a walk at random over all kinds', async (t) => {
    const chance = makeChance();
    t.diagnostic(`seed ${chance.seed}`);
    const project = await createProject(client);
    await walk(new UndoWalk(askIn(project), chance, ['vpcs', 'vpcs', 'qemu', ...always]), chance, 60);
  });
});
