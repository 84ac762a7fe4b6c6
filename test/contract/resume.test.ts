/** A listener that was away receives what it missed: each change once, whole and in order; otherwise a notice to read everything again. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Listener, listen, type Notice } from '../support/notices.ts';
import { expectFault, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type ProjectHandle } from '../support/with-server.ts';

const server = await startServer({ config: { Qemu: { acceleration: 'off' } }, stopNodes: false });
after(() => server.stop());
const client = new RawClient(server.url);
after(() => client.close());

const streamOf = (project: ProjectHandle, since?: number) =>
  `${server.url}${project.path}/notifications/ws${since === undefined ? '' : `?since=${since}`}`;

const numbered = (listener: Listener) => listener.notices().filter(({ seq }) => seq !== undefined);

/** Nodes, a link and a drawing are created, changed and deleted. */
async function work(project: ProjectHandle): Promise<void> {
  const one = await createNode(client, project, 'qemu', { properties: { adapters: 3 } });
  const two = await createNode(client, project);
  const gone = await createNode(client, project);
  const link = await client.post(`${project.path}/links`, { nodes: [end(one), end(two)] });
  await client.put(`${project.path}/links/${link.link_id}`, { filters: { latency: [7] }, suspend: true }, 201);
  await client.put(`${project.path}/nodes/${one.node_id}`, { x: 40, y: -40 });
  // Large pictures are in a file of their own.
  const svg = `<svg height="20" width="20"><text>${'x'.repeat(3000)}</text></svg>`;
  const drawing = await client.post(`${project.path}/drawings`, { svg });
  await client.put(`${project.path}/drawings/${drawing.drawing_id}`, { x: 5 }, 201);
  await client.delete(`${project.path}/nodes/${gone.node_id}`);
  await client.delete(`${project.path}/links/${link.link_id}`);
}

/** Live state of a deleted node, known only to its compute. */
const lasting = ({ event, ...notice }: Notice) => ({ ...notice, event: { ...event, command_line: null, node_directory: null } });

/** Waits until the listener received the last change. */
async function settled(listener: Listener, project: ProjectHandle): Promise<Notice[]> {
  const { drawing_id } = await client.post(`${project.path}/drawings`, {});
  await listener.find(({ event }) => event.drawing_id === drawing_id, 'the last change');
  return numbered(listener);
}

describe('resuming a notification stream', () => {
  it('delivers missed changes exactly as connected listeners received them', async () => {
    const project = await createProject(client);
    const stayed = await listen(streamOf(project));
    const first = await listen(streamOf(project));
    await createNode(client, project);
    const [seen] = await Promise.all([first.find(({ action }) => action === 'node.created', 'the node'), settled(stayed, project)]);
    await first.close();
    assert.ok(seen.seq);
    await work(project);
    const resumed = await listen(streamOf(project, seen.seq));
    const notices = await settled(stayed, project);
    await settled(resumed, project);
    const [answer] = resumed.notices();
    assert.equal(answer?.action, 'stream.resumed');
    assert.equal(answer?.event.since, seen.seq);
    const expected = notices.filter(({ seq }) => Number(seq) > Number(seen.seq));
    const missed = numbered(resumed).slice(0, expected.length);
    assert.deepEqual(missed.map(lasting), expected.map(lasting));
    assert.ok(missed.length > 10);
    await Promise.all([stayed.close(), resumed.close()]);
  });

  it('does so after the file was written, the project was closed, and the server was killed', async () => {
    const project = await createProject(client);
    const stayed = await listen(streamOf(project));
    const since = stayed.seq();
    assert.ok(since > 0, 'the ping tells the number');
    await work(project);
    const sent = await settled(stayed, project);
    await stayed.close();
    const missed = async () => {
      const resumed = await listen(streamOf(project, since));
      const last = sent.at(-1)?.seq;
      await resumed.find(({ seq }) => seq === last, 'the last change');
      const notices = numbered(resumed).filter(({ seq = 0 }) => seq <= (last as number));
      await resumed.close();
      return notices;
    };
    // Ports follow from the stored node; a deleted node has no live state.
    const essence = ({ action, seq, event }: Notice) => ({
      action,
      seq,
      id: event.node_id ?? event.link_id ?? event.drawing_id,
      x: event.x,
    });
    await client.post(`${project.path}/close`, {}, 204);
    await client.post(`${project.path}/open`);
    assert.deepEqual((await missed()).map(essence), sent.map(essence));
    await createNode(client, project);
    await server.kill9();
    await server.restart();
    await client.post(`${project.path}/open`);
    const again = await missed();
    assert.deepEqual(again.map(essence), sent.map(essence));
    const created = again.find(({ event }) => event.node_type === 'qemu')?.event;
    assert.equal((created?.ports as unknown[] | undefined)?.length, 3);
    const picture = again.find(({ action, event }) => action === 'drawing.created' && String(event.svg).length > 3000);
    assert.ok(picture);
  });

  it('delivers the current state of nodes started meanwhile', async () => {
    const project = await createProject(client);
    const node = await createNode(client, project);
    const first = await listen(streamOf(project));
    const since = first.seq();
    await first.close();
    await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
    const resumed = await listen(streamOf(project, since));
    const notice = await resumed.find(({ event }) => event.node_id === node.node_id, 'the node');
    assert.equal(notice.event.status, 'started');
    await resumed.close();
    await client.post(`${project.path}/nodes/${node.node_id}/stop`, {}, 200);
  });

  it('says so when the number is too old, unknown, or the project is closed', async () => {
    const project = await createProject(client);
    await createNode(client, project);
    for (const [since, reason] of [
      [1, 'too_old'],
      [9_999_999_999_999, 'unknown'],
    ] as const) {
      const listener = await listen(streamOf(project, since));
      const notice = await listener.find(() => true, 'an answer');
      assert.deepEqual([notice.action, notice.event], ['stream.reset', { since, reason }]);
      // Later changes are delivered nevertheless.
      await settled(listener, project);
      await listener.close();
    }
    await client.post(`${project.path}/close`, {}, 204);
    const listener = await listen(streamOf(project, 1));
    const notice = await listener.find(() => true, 'an answer');
    assert.equal(notice.event.reason, 'closed');
    await listener.close();
  });

  it('does not resume from before the restore of a snapshot, which is one step of undo', async () => {
    const project = await createProject(client);
    await createNode(client, project);
    const { snapshot_id } = await client.post(`${project.path}/snapshots`, { name: 'kept' });
    const first = await listen(streamOf(project));
    const since = first.seq();
    await createNode(client, project);
    await client.post(`${project.path}/close`, {}, 204);
    await client.post(`${project.path}/open`);
    await client.post(`${project.path}/snapshots/${snapshot_id}/restore`);
    await first.find(({ action }) => action === 'snapshot.restored', 'the restore');
    await first.close();
    const listener = await listen(streamOf(project, since));
    const { event } = await listener.find(({ action }) => action === 'stream.reset', 'the answer');
    assert.equal(event.reason, 'too_old');
    assert.ok(listener.seq() > since);
    await listener.close();
    await client.post(`${project.path}/undo`, {}, 200);
    assert.equal((await client.get<unknown[]>(`${project.path}/nodes`)).length, 2);
    await client.post(`${project.path}/undo`, {}, 200);
    assert.equal((await client.get<unknown[]>(`${project.path}/nodes`)).length, 1);
  });

  it('works on the stream of lines, and refuses an invalid number', async () => {
    const project = await createProject(client);
    const first = await listen(streamOf(project));
    const since = first.seq();
    await first.close();
    await createNode(client, project);
    const controller = new AbortController();
    const answer = await fetch(`${server.url}${project.path}/notifications?since=${since}`, { signal: controller.signal });
    let text = '';
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    await waitFor(
      async () => {
        text += (await reader?.read())?.value ?? '';
        return text.includes('node.created');
      },
      { what: 'the missed line' },
    );
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Notice);
    assert.deepEqual(
      lines.slice(0, 3).map(({ action }) => action),
      ['ping', 'stream.resumed', 'node.created'],
    );
    controller.abort();
    for (const bad of ['x', '-1', '1.5', '1e3'])
      expectFault(await client.send(`GET ${project.path}/notifications?since=${bad}`), 400, /since/);
  });
});
