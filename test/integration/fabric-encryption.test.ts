/** The encrypted stream between two fabrics: its bytes on the network, who may connect, and the fallback without it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { after, describe, it, type TestContext } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import type { StreamSpec } from '../../src/fabric/protocol.ts';
import type { StreamEnd } from '../support/frame-ends.ts';
import { freePort } from '../support/free-port.ts';
import { waitFor } from '../support/wait-for.ts';
import { type FabricBed, linkOf, startFabric, streamEnd } from '../support/with-fabric.ts';

const secret = 'a'.repeat(64);
const marker = 'what the network must not see '.repeat(4);
type Encryption = StreamSpec['encryption'];

interface SideSpec {
  readonly role: 'accept' | 'connect';
  readonly lport: number;
  readonly rport: number;
  readonly encryption: Encryption;
}

class Side {
  readonly bed: FabricBed;
  readonly end: StreamEnd;

  private constructor(bed: FabricBed, end: StreamEnd) {
    this.bed = bed;
    this.end = end;
  }

  static async start(context: TestContext, { role, lport, rport, encryption }: SideSpec): Promise<Side> {
    const bed = await startFabric(context);
    const side = new Side(bed, await streamEnd(context, `${bed.folder}/end`));
    const stream: StreamSpec = { role, secret, ...(encryption && { encryption }) };
    const udp = { type: 'udp', lport, rport, rhost: '127.0.0.1', strict: true, stream } as const;
    assert.deepEqual(await bed.client.apply([linkOf(side.end.port, udp)]), []);
    await side.end.connected();
    return side;
  }

  async stats() {
    const [link] = await this.bed.client.stats();
    assert.ok(link);
    return link;
  }

  joined(): Promise<unknown> {
    const isJoined = async () => {
      const { carrier, connected } = await this.stats();
      return carrier === 'stream' && connected.b;
    };
    return waitFor(isJoined, { what: 'frames to go over the stream' });
  }
}

/** Passes connections on to `port`, and keeps all that passes. */
async function wiretap(context: TestContext, port: number): Promise<{ port: number; bytesOf: () => Buffer }> {
  const chunks: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = createConnection(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.push(from);
      from.on('error', () => undefined).on('close', () => to.destroy());
      from.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        to.write(chunk);
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as { port: number }).port, bytesOf: () => Buffer.concat(chunks) };
}

async function tapped(context: TestContext, encryption: Encryption) {
  const [one, other] = [await freePort(), await freePort()];
  const tap = await wiretap(context, one);
  const accepts = await Side.start(context, { role: 'accept', lport: one, rport: other, encryption });
  const connects = await Side.start(context, { role: 'connect', lport: other, rport: tap.port, encryption });
  await Promise.all([accepts.joined(), connects.joined()]);
  return { accepts, connects, bytesOf: tap.bytesOf, port: one };
}

describe('the encrypted stream of a link', () => {
  for (const encryption of ['preferred', 'required'] as const)
    it(`carries frames of every length both ways, and the network sees none of them (${encryption})`, async (context) => {
      const { accepts, connects, bytesOf } = await tapped(context, encryption);
      const lengths = [120, 1500, 9000, 65_508, 69_632];
      for (const side of [accepts, connects]) side.end.send(...lengths.map((length) => Buffer.alloc(length, marker)));
      for (const { end } of [accepts, connects]) {
        const frames = await end.receive(lengths.length);
        assert.deepEqual(
          frames.map(({ length }) => length),
          lengths,
        );
        assert.ok(frames.every((frame) => frame.includes(marker)));
      }
      assert.ok(bytesOf().length > 290_000, 'the frames took another way');
      assert.equal(bytesOf().includes(marker), false);
      assert.equal(bytesOf().includes(secret), false);
    });

  it('would be seen without encryption', async (context) => {
    const { accepts, connects, bytesOf } = await tapped(context, undefined);
    accepts.end.send(Buffer.alloc(1500, marker));
    await connects.end.receive(1);
    assert.equal(bytesOf().includes(marker), true);
  });

  it('passes back-pressure on: nothing is lost', async (context) => {
    const { accepts, connects } = await tapped(context, 'required');
    connects.end.socket?.pause();
    const count = 20_000;
    for (let sent = 0; sent < count; sent += 100)
      accepts.end.send(...Array.from({ length: 100 }, () => Buffer.alloc(1500, marker)));
    await waitFor(async () => (await connects.stats()).ba.sent > 100, { what: 'frames to be on their way' });
    connects.end.socket?.resume();
    await connects.end.receive(count);
    assert.deepEqual((await accepts.stats()).ab.dropped, {});
  });
});

describe('at the port of an encrypted stream', () => {
  it('refuses a peer without the secret, by TLS or without, and keeps the connected one', async (context) => {
    const { accepts, connects, port } = await tapped(context, 'required');
    const before = (await accepts.stats()).ba.sent;
    const suite = { ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3', rejectUnauthorized: false } as const;
    const visitors = [
      connectTls({ port, host: '127.0.0.1', ...suite, pskCallback: () => ({ psk: Buffer.alloc(32, 1), identity: 'pbframe2' }) }),
      connectTls({ port, host: '127.0.0.1', ...suite, pskCallback: () => ({ psk: Buffer.alloc(32), identity: 'other' }) }),
      connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }),
      createConnection({ port, host: '127.0.0.1' }),
    ];
    const ended = visitors.map((visitor) => {
      visitor.on('error', () => undefined).on('data', () => undefined);
      // A frame in the clear, and a hello of the version without encryption.
      visitor.write(Buffer.concat([Buffer.from([0, 0, 0, 60]), Buffer.alloc(60), Buffer.alloc(48)]));
      return new Promise((done) => visitor.once('close', done));
    });
    await Promise.all(ended);
    connects.end.send(Buffer.alloc(100, marker));
    await accepts.end.receive(1);
    assert.equal((await accepts.stats()).ba.sent, before + 1);
    assert.equal(accepts.end.frames.length, 1);
  });

  it('the end that connects takes no certificate for the secret, nor a server without encryption', async (context) => {
    const folder = (await startFabric(context)).folder;
    const [cert, key] = [`${folder}/crt`, `${folder}/key`];
    const made = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-keyout',
      key,
      '-out',
      cert,
    ];
    await promisify(execFile)('openssl', made);
    let attempts = 0;
    const messages: Buffer[] = [];
    const server = createTlsServer({ cert: await readFile(cert), key: await readFile(key) }, (socket) => {
      socket.on('error', () => undefined).on('data', (chunk) => messages.push(chunk));
    });
    server.on('connection', () => {
      attempts += 1;
    });
    server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    after(() => server.close());
    const { port } = server.address() as { port: number };
    const side = await Side.start(context, { role: 'connect', lport: await freePort(), rport: port, encryption: 'required' });
    await waitFor(() => attempts >= 3, { what: 'further attempts' });
    assert.equal((await side.stats()).connected.b, false);
    assert.deepEqual(messages, []);
  });
});

describe('while there is no connection', () => {
  it('a link that requires encryption neither sends datagrams nor takes them', async (context) => {
    const far = createSocket('udp4');
    context.after(() => far.close());
    far.bind(0, '127.0.0.1');
    await once(far, 'listening');
    const messages: Buffer[] = [];
    far.on('message', (message) => messages.push(message));
    const lport = await freePort();
    const rport = far.address().port;
    const side = await Side.start(context, { role: 'accept', lport, rport, encryption: 'required' });
    side.end.send(Buffer.alloc(100, marker));
    far.send(Buffer.alloc(100, marker), lport, '127.0.0.1');
    await waitFor(async () => Object.values((await side.stats()).ab.dropped).some((count) => count === 1), {
      what: 'the frame to be dropped',
    });
    const second = createSocket('udp4');
    context.after(() => second.close());
    // An answer, and the frame that came in, would have arrived by then.
    second.send('done', rport, '127.0.0.1');
    await waitFor(() => messages.some((message) => message.toString() === 'done'), { what: 'the last datagram' });
    assert.deepEqual(messages.map(String), ['done']);
    assert.deepEqual([side.end.frames.length, (await side.stats()).ba.sent], [0, 0]);
  });
});
