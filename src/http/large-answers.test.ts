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
app.get('/new', async (_request, reply) => reply.send(await answers.encode(reply, ['x'.repeat(answerBytes)])));
const list = Object.freeze(['x'.repeat(answerBytes)]);
app.get('/list', async (_request, reply) => reply.send(await answers.encode(reply, list)));
app.get('/small', async (_request, reply) => reply.send(await answers.encode(reply, {})));
await app.listen({ host: '127.0.0.1', port: 0 });
after(() => app.close());
const { port } = app.server.address() as AddressInfo;

async function statusOf(path: string, from: string): Promise<number> {
  const connection = new BareConnection(port, { from });
  connection.write(requestText(`GET ${path}`, { Host: '127.0.0.1' }));
  const status = await waitFor(() => /^HTTP\/1\.1 (\d+)/.exec(connection.received)?.[1], { what: 'an answer', limitMs });
  connection.close();
  return Number(status);
}

/** Clients that request and never read. */
function deaf(path: string, count: number, from = '127.0.0.20'): BareConnection[] {
  return Array.from({ length: count }, () => {
    const connection = new BareConnection(port, { from });
    connection.socket.pause();
    connection.write(requestText(`GET ${path}`, { Host: '127.0.0.1' }));
    return connection;
  });
}

test('large answers that one client does not read are limited; it has others, and large ones once it has gone or read', async () => {
  const held = deaf('/new', 6);
  await waitFor(async () => (await statusOf('/new', '127.0.0.20')) === 429, { what: 'a refusal', limitMs });
  assert.equal(await statusOf('/small', '127.0.0.20'), 200);
  assert.equal(await statusOf('/new', '127.0.0.21'), 200);
  for (const one of held) one.close();
  await waitFor(async () => (await statusOf('/new', '127.0.0.20')) === 200, { what: 'an answer again', limitMs });
});

test('an answer that many requests share counts once', async () => {
  const held = deaf('/list', 8, '127.0.0.22');
  for (let count = 0; count < 4; count++) assert.equal(await statusOf('/list', '127.0.0.22'), 200);
  for (const one of held) one.close();
});
