import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import fastify from 'fastify';
import { BareConnection, requestText } from '../../test/support/raw-socket.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { JsonText } from '../lib/json-text.ts';
import { LargeAnswers } from './large-answers.ts';
import { replyErrors } from './reply-errors.ts';

const MiB = 1024 ** 2;
const limitMs = 60_000;
/** More than the kernel holds for two connections. */
const answerBytes = 16 * MiB;

const texts = new JsonText();
const answers = new LargeAnswers(texts, 2.5 * answerBytes);
const app = fastify();
app.setErrorHandler(replyErrors(texts));
let counted = 0;
app.get('/new', async (_request, reply) => {
  const bytes = await answers.encode(reply, ['x'.repeat(answerBytes)]);
  counted += 1;
  return reply.send(bytes);
});
const list = Object.freeze(['x'.repeat(answerBytes)]);
app.get('/list', async (_request, reply) => reply.send(await answers.encode(reply, list)));
let made = 0;
app.post('/make', async (request, reply) => {
  answers.requireRoom(request);
  made += 1;
  return reply.send(await answers.encode(reply, ['x'.repeat(answerBytes)]));
});
app.get('/small', async (_request, reply) => reply.send(await answers.encode(reply, {})));
await app.listen({ host: '127.0.0.1', port: 0 });
after(() => app.close());
const { port } = app.server.address() as AddressInfo;

async function statusOf(request: string, from: string): Promise<number> {
  const connection = new BareConnection(port, { from });
  connection.write(requestText(request, { Host: '127.0.0.1' }));
  const status = await waitFor(() => /^HTTP\/1\.1 (\d+)/.exec(connection.received)?.[1], { what: 'an answer', limitMs });
  connection.close();
  return Number(status);
}

/** Clients that request and never read. */
function deaf(request: string, count: number, from: string): BareConnection[] {
  return Array.from({ length: count }, () => {
    const connection = new BareConnection(port, { from });
    connection.socket.pause();
    connection.write(requestText(request, { Host: '127.0.0.1' }));
    return connection;
  });
}

/** Two answers that wait. The server is asked, as a further request could take the place of one. */
async function holdTwo(from: string): Promise<BareConnection[]> {
  const before = counted;
  const held = deaf('GET /new', 2, from);
  await waitFor(() => counted === before + 2, { what: 'two answers', limitMs });
  return held;
}

test('large answers that one client does not read are limited; it has others, and large ones once it has gone or read', async () => {
  const held = await holdTwo('127.0.0.20');
  assert.equal(await statusOf('GET /new', '127.0.0.20'), 429);
  assert.equal(await statusOf('GET /small', '127.0.0.20'), 200);
  assert.equal(await statusOf('GET /new', '127.0.0.21'), 200);
  for (const one of held) one.close();
  await waitFor(async () => (await statusOf('GET /new', '127.0.0.20')) === 200, { what: 'an answer again', limitMs });
});

test('an answer that many requests share counts once', async () => {
  const held = deaf('GET /list', 8, '127.0.0.22');
  for (let count = 0; count < 4; count++) assert.equal(await statusOf('GET /list', '127.0.0.22'), 200);
  for (const one of held) one.close();
});

test('a request that changes something is refused before it is done, or not at all', async () => {
  const from = '127.0.0.23';
  const held = await holdTwo(from);
  assert.equal(await statusOf('GET /new', from), 429);
  held.push(...deaf('POST /make', 1, from));
  await waitFor(() => made === 1, { what: 'the change', limitMs });
  let answered = 0;
  const isRefused = async () => {
    const status = await statusOf('POST /make', from);
    answered += status === 200 ? 1 : 0;
    return status === 429;
  };
  await waitFor(isRefused, { what: 'a refusal', limitMs });
  assert.equal(made, 1 + answered);
  for (const one of held) one.close();
});
