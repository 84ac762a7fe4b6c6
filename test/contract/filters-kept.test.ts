/** Filters of a link stay in effect after the server is killed, after the fabric is killed, and when its project is reopened. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processesOf } from '../support/leftovers.ts';
import { expectStatus } from '../support/raw-http.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';

const bench = await withServer();

interface Direction {
  received_frames: number;
  frames: number;
  queued_frames: number;
  dropped: Record<string, number>;
}
interface Stats {
  running: boolean;
  directions: [Direction, Direction];
}

/** Every frame towards the second node twice, through a wide bottleneck; of those back each is lost in a burst without end. */
const filters = { duplicate_ab: [100], burst_loss_ba: [100], bandwidth_ab: [100_000], reorder_ab: [10, 2], seed: [7] };

test('filters of each direction and suspension persist when the server or the fabric is killed', async () => {
  const { client, server } = bench;
  const project = await createProject(client);
  const pc = (number: 1 | 2) => createNode(client, project, 'vpcs', { properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
  const [one, other] = [await pc(1), await pc(2)];
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: [end(one), end(other)] });
  const path = `${project.path}/links/${link_id}`;
  const startNodes = async () => expectStatus(await client.send(`POST ${project.path}/nodes/start`, { limitMs: 60_000 }), 204);
  const stats = () => client.get<Stats>(`${path}/stats`);
  const running = () => waitFor(async () => (await stats()).running, { what: 'the link to run' });
  const ping = async () => {
    const { console } = await client.get<NodeBody>(`${project.path}/nodes/${one.node_id}`);
    const telnet = await openTelnet(console as number);
    await skipHistory(telnet);
    await command(telnet, 'ping 10.0.0.2 -c 1', /ttl=|timeout|not reachable/).finally(() => telnet.close());
  };
  const act = async () => {
    await running();
    const [before, backBefore] = (await stats()).directions;
    const [after, back] = await waitFor(
      async () => {
        // Frames may be lost on their way into a fabric that has just begun.
        await ping();
        const [ab, ba] = (await stats()).directions;
        const isThrough = ab.queued_frames === 0 && ab.received_frames > before.received_frames;
        return isThrough && ba.received_frames > backBefore.received_frames && ([ab, ba] as const);
      },
      { what: 'frames through the link', limitMs: 60_000 },
    );
    assert.equal(after.frames - before.frames, 2 * (after.received_frames - before.received_frames));
    const lost = (back.dropped.burst_loss ?? 0) - (backBefore.dropped.burst_loss ?? 0);
    assert.deepEqual([lost, back.frames], [back.received_frames - backBefore.received_frames, backBefore.frames]);
  };
  const lose = async () => {
    await running();
    const before = (await stats()).directions[0];
    const after = await waitFor(
      async () => {
        await ping();
        const [ab] = (await stats()).directions;
        return ab.received_frames > before.received_frames && ab;
      },
      { what: 'frames into the link', limitMs: 60_000 },
    );
    assert.equal((after.dropped.suspend ?? 0) - (before.dropped.suspend ?? 0), after.received_frames - before.received_frames);
  };
  const happenings = {
    'the server was killed': async () => {
      await server.kill9();
      await server.restart();
    },
    'the fabric was killed': async () => {
      const isFabric = ({ commandLine }: { commandLine: string }) => commandLine.includes('fabric/main.');
      const fabric = processesOf(server.dataDir, server.runtimeDirectory).find(isFabric);
      assert.ok(fabric);
      process.kill(fabric.pid, 'SIGKILL');
      const isAnother = () =>
        processesOf(server.dataDir, server.runtimeDirectory).some((one) => isFabric(one) && one.pid !== fabric.pid);
      await waitFor(isAnother, { what: 'the next fabric' });
    },
    'the project was closed and opened': async () => {
      await client.post(`${project.path}/close`, {}, 204);
      await client.post(`${project.path}/open`);
      await startNodes();
    },
  };
  await startNodes();
  for (const [fields, check] of [
    [{ filters }, act],
    [{ suspend: true }, lose],
  ] as const) {
    const link = await client.put<Record<string, unknown>>(path, fields, 201);
    await check();
    for (const [what, happen] of Object.entries(happenings)) {
      await happen();
      const now = await waitFor(() => client.get<Record<string, unknown>>(path), {
        what: `the link after ${what}`,
      });
      assert.deepEqual([now.filters, now.suspend], [link.filters, link.suspend], what);
      await check();
    }
  }
});
