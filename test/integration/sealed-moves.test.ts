/**
 * A running machine moves to a compute behind an attacker who changes the stream of its memory on the way: QEMU there is given no byte of the
 * changed part, the move is refused, and the machine keeps running where it was.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { NodeMigration } from '../../src/schema/move.ts';
import { processesOf } from '../support/leftovers.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { expectFault, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, idleVm, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const skip = await missingPrograms(['qemu-system-x86_64', 'qemu-system-x86']);
const { client, server } = await withServer();
const login = { user: 'teacher', password: 'correct-horse' };
let far: RunningServer;
let project: ProjectHandle;
const computeId = randomUUID();

/** Changes that the attacker makes to the memory; undefined: none. */
let attack: ((body: IncomingMessage, path: string) => AsyncIterable<Buffer>) | undefined;
const proxy = createServer((call, answer) => void forward(call, answer).catch(() => answer.destroy()));
proxy.on('upgrade', (call, socket, head) => {
  const onward = connect(far.port, '127.0.0.1');
  for (const [one, other] of [
    [socket, onward],
    [onward, socket],
  ] as const)
    one.on('error', () => other.destroy()).pipe(other);
  const { rawHeaders: words } = call;
  const lines = words.flatMap((word, at) => (at % 2 === 0 ? [`${word}: ${words[at + 1]}`] : []));
  onward.write([`${call.method} ${call.url} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  onward.write(head);
});

async function forward(call: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = call;
  const isAttacked = method === 'POST' && /\/arrivals\/[^/]+\/streams\/memory$/.test(url);
  // A connection of its own for each request: one that the compute closes after a refusal is not used again.
  const onward = request({ host: '127.0.0.1', port: far.port, method, path: url, headers, agent: false });
  const answered = once(onward, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => undefined);
  const sent = pipeline(isAttacked && attack ? attack(call, url) : call, onward);
  sent.catch(() => undefined);
  const [reply] = await answered;
  answer.writeHead(reply.statusCode ?? 502, reply.headers);
  await pipeline(reply, answer);
}

before(async () => {
  far = await startServer({
    config: { Server: { auth: true, ...login }, Qemu: { acceleration: 'off', allow_unsafe_options: true } },
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  await client.post('/v2/computes', {
    ...{ compute_id: computeId, name: 'far', protocol: 'http', host: '127.0.0.1', port },
    ...login,
  });
  const isConnected = async () => (await client.get<{ connected: boolean }>(`/v2/computes/${computeId}`)).connected;
  await waitFor(isConnected, { what: 'the connection to the compute' });
  project = await createProject(client);
});
after(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await far?.stop();
});

const machinesOf = ({ dataDir, runtimeDirectory }: RunningServer) =>
  processesOf(dataDir, runtimeDirectory).filter(({ commandLine }) => /^\S*qemu-system/.test(commandLine)).length;

/** Bytes of the memory stream from which on the attacker changes it: in the middle of the RAM. */
const reached = 400_000;

const attacks: Record<string, (body: IncomingMessage, path: string) => AsyncIterable<Buffer>> = {
  async *'changes a bit'(body) {
    let seen = 0;
    for await (const part of body as AsyncIterable<Buffer>) {
      const bytes = Buffer.from(part);
      if (seen <= reached && seen + bytes.length > reached) bytes[reached - seen] = (bytes[reached - seen] ?? 0) ^ 1;
      seen += bytes.length;
      yield bytes;
    }
  },
  async *'cuts it off, and ends it in good order'(body) {
    let seen = 0;
    for await (const part of body as AsyncIterable<Buffer>) {
      if (seen > reached) continue;
      seen += part.length;
      yield part;
    }
  },
  async *'sends a part twice'(body) {
    let isFirst = true;
    for await (const part of body as AsyncIterable<Buffer>) {
      yield part;
      if (isFirst) yield part;
      isFirst = false;
    }
  },
  async *'writes a stream of his own'(body) {
    for await (const part of body as AsyncIterable<Buffer>) yield Buffer.alloc(part.length, 0x51);
  },
};

describe('a machine whose memory an attacker on the way', { skip }, () => {
  let node: NodeBody;
  before(async () => {
    node = await createNode(client, project, 'qemu', { properties: idleVm });
    await client.post(`${project.path}/nodes/${node.node_id}/start`, {}, 200);
  });
  const migrate = () =>
    client.send(`POST ${project.path}/nodes/${node.node_id}/migrate`, { body: { compute_id: computeId }, limitMs: 60_000 });

  for (const [name, made] of Object.entries(attacks))
    test(`${name} stays where it runs`, async () => {
      let isReached = false;
      attack = (body, path) => {
        isReached = true;
        return made(body, path);
      };
      const refused = await migrate();
      expectFault(refused, 409, /cannot be moved while it runs/);
      assert.ok(isReached, `the memory was sent: ${refused.text()}`);
      const { status, compute_id } = await client.get<NodeBody & { compute_id: string }>(`${project.path}/nodes/${node.node_id}`);
      assert.deepEqual([status, compute_id], ['started', 'local']);
      assert.deepEqual([machinesOf(server), machinesOf(far)], [1, 0]);
    });

  test('repeats, by a second request, moves: the request is refused', async (t) => {
    const direct = new RawClient(far.url, {
      authorization: `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`,
    });
    t.after(() => direct.close());
    let second: Promise<unknown> | undefined;
    attack = async function* (body, path) {
      for await (const part of body as AsyncIterable<Buffer>) {
        yield part;
        // The first request reaches the compute meanwhile.
        if (!second) await pause(1000);
        second ??= direct
          .send(`POST ${path}`, { raw: part })
          .then((answer) => expectFault(answer, 409, /stream memory is used already/));
        await second;
      }
    };
    const answer = await migrate();
    assert.ok(second, `it was tried: ${answer.text()}`);
    await second;
    assert.equal(answer.status, 200, answer.text());
    assert.equal(answer.json<NodeMigration>().live, true);
    assert.deepEqual([machinesOf(server), machinesOf(far)], [0, 1]);
  });
});
