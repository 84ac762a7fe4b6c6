import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { Console } from './console.ts';

/** A telnet server that records its input; the test writes its replies. */
async function withConsole(use: (client: Console, far: Socket, sent: () => Buffer) => Promise<void>): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const client = await Console.open(address.port);
  const far = await connected;
  const chunks: Buffer[] = [];
  far.on('data', (chunk) => chunks.push(chunk));
  try {
    await use(client, far, () => Buffer.concat(chunks));
  } finally {
    client.close();
    far.destroy();
    server.close();
  }
}

test('negotiation is stripped and answered once, wherever the data is split', () =>
  withConsole(async (client, far, sent) => {
    far.write(Buffer.from([255, 251, 1, 255]));
    await new Promise((resolve) => setImmediate(resolve));
    far.write(Buffer.concat([Buffer.from([253, 24, 255, 251, 1, 255, 250, 24, 1, 255, 240]), Buffer.from('hello \x1b[6n\x1b')]));
    await new Promise((resolve) => setImmediate(resolve));
    far.write('[0');
    await new Promise((resolve) => setImmediate(resolve));
    far.write('m# ');
    assert.equal(await client.expect(/# $/, 2000), 'hello # ');
    client.send('end');
    while (!sent().includes('end')) await new Promise((resolve) => far.once('data', resolve));
    assert.deepEqual([...sent()].slice(0, 6), [255, 253, 1, 255, 252, 24]);
    assert.equal(sent().length, 6 + 'end'.length);
  }));

test('a command ends at its result, not at its echo, nor at the result of an earlier client', () =>
  withConsole(async (client, far) => {
    const typed = new Promise<string>((resolve) => far.once('data', (data) => resolve(data.toString())));
    const result = client.run('hostname');
    const mark = /echo (=\w+=)\$\?=/.exec(await typed)?.[1];
    far.write(`=ffff1=0=\r\nhostname; echo ${mark}$?=\r\nVM1\r\n${mark}0=\r\n# `);
    assert.match(await result, /^VM1\r?$/m);
  }));

test('a pending wait fails when the console closes', () =>
  withConsole(async (client, far) => {
    const waiting = client.expect(/never/, 5000);
    far.end('last words');
    await assert.rejects(waiting, /closed.*last words/);
  }));
