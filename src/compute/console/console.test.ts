import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openTelnet, type TelnetClient } from '../../../test/support/telnet.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { isFault } from '../../api/faults.ts';
import { type BudgetedStream, streamBudgets } from '../../api/stream-budgets.ts';
import { type ConsoleOptions, type NodeConsole, openConsole } from './console.ts';

/** An emulator's console as QEMU offers it: one client, no replay. */
class FakeEmulator {
  readonly path: string;
  server!: Server;
  connection: Socket | undefined;
  input = '';
  constructor(path: string) {
    this.path = path;
  }
  async listen(): Promise<void> {
    this.server = createServer((socket) => {
      this.connection = socket;
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        this.input += bytes.toString('latin1');
      });
      socket.on('close', () => {
        this.connection = undefined;
      });
    });
    await new Promise<void>((resolve) => this.server.listen(this.path, resolve));
  }
  async say(text: string | Uint8Array): Promise<void> {
    const socket = await waitFor(() => this.connection, { what: 'a connection to the emulator' });
    await new Promise<void>((resolve) => void socket.write(text, () => resolve()));
  }
  async end(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.connection?.destroy();
    await closed;
  }
}

let folder: string;
let emulator: FakeEmulator;
let opened: NodeConsole[];
let clients: TelnetClient[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-console-'));
  emulator = new FakeEmulator(join(folder, 'serial'));
  await emulator.listen();
  opened = [];
  clients = [];
});
afterEach(async () => {
  for (const client of clients) client.close();
  for (const one of opened) await one.close();
  await emulator.end();
  await rm(folder, { recursive: true });
});

async function open(options: Partial<ConsoleOptions> = {}): Promise<NodeConsole> {
  const one = await openConsole({ source: { type: 'unix', path: emulator.path }, host: '127.0.0.1', port: 0, ...options });
  opened.push(one);
  return one;
}
async function telnet(one: NodeConsole): Promise<TelnetClient> {
  const client = await openTelnet(one.port);
  clients.push(client);
  return client;
}

test('a client is offered telnet, sees the past, then what comes, and its input arrives', async () => {
  const one = await open();
  await emulator.say('before\r\n');
  const client = await telnet(one);
  await client.expect(/before\r\n/);
  assert.equal(client.received().subarray(0, 12).toString('hex'), 'fffb01fffb03fffb00fffd00');
  await emulator.say('login: ');
  await client.expect(/login: $/);
  client.send('ro');
  client.send(Uint8Array.of(0xff, 0xfd, 0x03, 0x6f, 0xff, 0xf1, 0x74, 0xff, 0xff));
  await waitFor(() => emulator.input === 'root\xff', { what: 'the input without telnet' });
});

test('all clients see all output, and all input is merged', async () => {
  const one = await open();
  const several = await Promise.all([telnet(one), telnet(one), telnet(one)]);
  await emulator.say(Buffer.from('a\xffb\n', 'latin1'));
  for (const [index, client] of several.entries()) {
    await client.expect(/b\n/);
    assert.ok(client.received().includes('a\xff\xffb', 0, 'latin1'), 'doubled 0xff');
    client.send(`<${index}>`);
  }
  await waitFor(() => emulator.input.length === 9, { what: 'input of three clients' });
  assert.deepEqual(emulator.input.match(/<\d>/g)?.sort(), ['<0>', '<1>', '<2>']);
});

test('are you there is answered, with the banner', async () => {
  const client = await telnet(await open({ banner: 'Console of R1' }));
  await client.expect(/Console of R1\r\n/);
  client.send(Uint8Array.of(0xff, 0xf6));
  await client.expect(/\[Console of R1: yes\]/);
  assert.equal(emulator.input, '');
});

test('output that waits for a client counts together with that of all other streams to its address', async () => {
  const one = await open();
  let hasEnded = false;
  // The queue of one client does not fit into the rest of the 16 MiB of an address.
  const other: BudgetedStream = {
    waitingBytes: 16 * 1024 * 1024 - 64 * 1024,
    endSlow: () => {
      hasEnded = true;
    },
  };
  streamBudgets.grown('127.0.0.1', other);
  try {
    const slow = await telnet(one);
    slow.socket.pause();
    const part = Buffer.alloc(256 * 1024, `${'x'.repeat(1023)}\n`);
    for (let count = 0; count < 100 && !hasEnded; count++) await emulator.say(part);
    await waitFor(() => hasEnded, { what: 'the stream with the most waiting bytes to end' });
  } finally {
    streamBudgets.left('127.0.0.1', other);
  }
});

test('a client that stops reading delays no other client, and learns what it lost', async () => {
  const one = await open();
  const slow = await telnet(one);
  const quick = await telnet(one);
  await emulator.say('begin\n');
  await slow.expect(/begin/);
  slow.socket.pause();
  let seen = 0;
  quick.socket.on('data', (bytes) => {
    seen += bytes.length;
  });
  // More than the kernel's socket buffers, the queue and the scrollback together hold.
  const part = Buffer.alloc(256 * 1024, `${'x'.repeat(1023)}\n`);
  const parts = 80;
  for (let sent = 0; sent < parts; sent++) await emulator.say(part);
  await waitFor(() => seen >= part.length * parts, { what: 'all output at the quick client', limitMs: 20_000 });
  slow.socket.resume();
  await waitFor(() => slow.received().includes('bytes of output were lost here'), { what: 'the notice', limitMs: 20_000 });
  await emulator.say('end\n');
  await waitFor(() => slow.received().subarray(-4).equals(Buffer.from('end\n')), { what: 'the end at the slow client' });
});

test('output without clients is drained, and the last 64 KiB are kept', async () => {
  const one = await open();
  const line = `${'y'.repeat(99)}\n`;
  await emulator.say(line.repeat(40_000));
  await emulator.say('prompt# ');
  const client = await telnet(one);
  await client.expect(/prompt# $/, 10_000);
  const size = client.received().length;
  assert.ok(size > 64 * 1024 && size < 72 * 1024, `${size} bytes`);
});

test('a lost connection to the emulator is made again, and clients stay', async () => {
  const one = await open();
  const client = await telnet(one);
  await emulator.say('one\n');
  await client.expect(/one\n/);
  emulator.connection?.destroy();
  await waitFor(() => emulator.connection === undefined, { what: 'the end of the connection' });
  await emulator.say('two\n');
  await client.expect(/two\n/);
  client.send('still');
  await waitFor(() => emulator.input === 'still', { what: 'input after the new connection' });
});

test('much early input pauses its client, and all of it arrives', async () => {
  const one = await open({ source: { type: 'unix', path: emulator.path, telnet: true } });
  const client = await telnet(one);
  await waitFor(() => emulator.connection, { what: 'a connection to the emulator' });
  const much = 'x'.repeat(32 * 1024 * 1024);
  client.send(much);
  const taken: number[] = [];
  const stands = () => taken.push(client.socket.bytesWritten - client.socket.writableLength) > 1 && taken.at(-1) === taken.at(-2);
  await waitFor(stands, { what: 'a client that waits', everyMs: 100 });
  await emulator.say('no negotiation');
  await waitFor(() => emulator.input.length === much.length, { what: 'all input', limitMs: 20_000 });
});

test('adoption: history and what was written meanwhile come from the log, once', async () => {
  const log = join(folder, 'console.log');
  await writeFile(log, 'history\n');
  const one = await open({ source: { type: 'unix', path: emulator.path, log } });
  const both = async (text: string) => {
    await emulator.say(text);
    await appendFile(log, text);
  };
  await both('live\n');
  const client = await telnet(one);
  await client.expect(/^history\nlive\n$/);
  emulator.connection?.destroy();
  await waitFor(() => emulator.connection === undefined, { what: 'the end of the connection' });
  await appendFile(log, 'alone\n');
  await both('again\n');
  await client.expect(/^alone\nagain\n$/);
  // A second console, as after a restart of the server.
  await one.close();
  const next = await open({ source: { type: 'unix', path: emulator.path, log } });
  const later = await telnet(next);
  await later.expect(/^history\nlive\nalone\nagain\n$/);
});

test('the emulator may come later than the console', async () => {
  await emulator.end();
  const one = await open();
  const client = await telnet(one);
  await emulator.listen();
  await emulator.say('here');
  await client.expect(/here/);
});

test('close cuts the clients and frees the port at once; reset keeps port and scrollback', async () => {
  const one = await open();
  const { port } = one;
  await emulator.say('kept\n');
  const first = await telnet(one);
  await first.expect(/kept/);
  await one.reset();
  await first.closed;
  assert.equal(one.port, port);
  const second = await telnet(one);
  await second.expect(/kept/);
  await one.close();
  await second.closed;
  const again = await open({ port });
  assert.equal(again.port, port);
  await assert.rejects(
    open({ port }),
    (error) => isFault(error, 'console_unavailable') && /another program uses it/.test(error.message),
  );
});

test('an attached sink is a client like others', async () => {
  const one = await open();
  const sent: Uint8Array[] = [];
  let closed = false;
  let queued = 0;
  const text = () => Buffer.concat(sent).toString('latin1');
  const attached = one.attach({
    send: (bytes) => void sent.push(bytes),
    bufferedAmount: () => queued,
    close: () => {
      closed = true;
    },
  });
  assert.equal(text(), '\xff\xfb\x01\xff\xfb\x03\xff\xfb\x00\xff\xfd\x00');
  attached.write(Buffer.from('ls\r'));
  await emulator.say('files\n');
  await waitFor(() => text().endsWith('files\n') && emulator.input.endsWith('ls\r'), { what: 'both directions' });
  queued = 1024 * 1024;
  await emulator.say('more\n');
  const watcher = await telnet(one);
  await watcher.expect(/more\n/);
  assert.ok(!text().endsWith('more\n'), 'nothing is queued for one that does not read');
  queued = 0;
  await waitFor(() => text().endsWith('more\n'), { what: 'the rest, when there is room again' });
  await one.close();
  assert.ok(closed);
});

test('what a browser sends to the port reaches no machine; what only looks like it does', async () => {
  const one = await open();
  const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${one.port}\r\nContent-Length: 9\r\n\r\n`;
  const hostile = [
    [`${head('/')}rm -rf /\n`],
    ['GET /'.padEnd(3000, 'x'), ' HTTP/1.1\r\nHost: rebound.example\r\n\r\nreload\n'],
    [Uint8Array.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]), 'reload\n'],
  ];
  for (const pieces of hostile) {
    const client = await telnet(one);
    for (const piece of pieces) client.send(piece);
    await client.expect(/400 Bad Request[\s\S]*telnet console/);
    await client.closed;
  }
  const person = await telnet(one);
  person.send('GET ');
  person.send('ready\r\n');
  person.send('POST / HTTP/1.1\r\n');
  await waitFor(() => emulator.input.endsWith('HTTP/1.1\r\n'), { what: 'the input of a person' });
  assert.equal(emulator.input, 'GET ready\r\nPOST / HTTP/1.1\r\n');
});

test('a terminal gets the smallest window of its clients, again when one goes and when the emulator is another one', async () => {
  const sizes: string[] = [];
  const resize = async ({ columns, rows }: { columns: number; rows: number }) => {
    sizes.push(`${columns}x${rows}`);
  };
  const one = await open({ source: { type: 'unix', path: emulator.path, resize } });
  const says = (columns: number, rows: number) =>
    Uint8Array.of(255, 251, 31, 255, 250, 31, columns >> 8, columns & 255, rows >> 8, rows & 255, 255, 240);
  const until = (wanted: string) => waitFor(() => sizes.at(-1) === wanted, { what: `${wanted} after ${sizes}` });
  const [large, small] = [await telnet(one), await telnet(one)];
  await waitFor(() => large.received().includes(Buffer.of(255, 253, 31)), { what: 'the question for the size' });
  large.socket.write(says(200, 50));
  await until('200x50');
  small.socket.write(says(100, 60));
  await until('100x50');
  small.close();
  await until('200x50');
  large.socket.write(says(0, 0));
  large.socket.write(says(4096, 40));
  await until('1000x40');
  const before = sizes.length;
  emulator.connection?.destroy();
  await waitFor(() => sizes.length > before, { what: 'the size of the new terminal' });
  assert.equal(sizes.at(-1), '1000x40');
});
