/** Two fabrics, as on two computes, and the stream between them: authentication, traffic, and reconnection. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { LinkSpec } from '../../src/fabric/protocol.ts';
import { prefixed, type StreamEnd } from '../support/frame-ends.ts';
import { freePort } from '../support/free-port.ts';
import { waitFor } from '../support/wait-for.ts';
import { type FabricBed, linkOf, startFabric, streamEnd } from '../support/with-fabric.ts';

const frameOf = (text: string, length = 60) => Buffer.alloc(length, text);
const textOf = (frames: readonly Buffer[]) => frames.map((frame) => String.fromCharCode(frame[0] ?? 0)).join('');
const secret = 'a'.repeat(64);

/** A compute's part of the link. */
class Side {
  readonly bed: FabricBed;
  readonly end: StreamEnd;
  readonly #port: { lport: number; rport: number; role: 'accept' | 'connect' };

  constructor(bed: FabricBed, end: StreamEnd, port: { lport: number; rport: number; role: 'accept' | 'connect' }) {
    this.bed = bed;
    this.end = end;
    this.#port = port;
  }

  spec(own = secret, more: Partial<LinkSpec> = {}): LinkSpec {
    const { role, ...ports } = this.#port;
    const udp = { type: 'udp', ...ports, rhost: '127.0.0.1', strict: true } as const;
    return linkOf(this.end.port, { ...udp, stream: { role, secret: own } }, more);
  }

  async apply(own = secret, more: Partial<LinkSpec> = {}): Promise<void> {
    assert.deepEqual(await this.bed.client.apply([this.spec(own, more)]), []);
    await this.end.connected();
  }

  async stats() {
    const [link] = await this.bed.client.stats();
    assert.ok(link);
    return link;
  }

  carried(by: 'stream' | 'udp'): Promise<unknown> {
    return waitFor(async () => (await this.stats()).carrier === by, { what: `frames to go by ${by}` });
  }

  get number(): number {
    return this.#port.lport;
  }
}

async function twoSides(context: TestContext): Promise<[accepts: Side, connects: Side]> {
  const [one, other] = [await freePort(), await freePort()];
  const side = async (role: 'accept' | 'connect', lport: number, rport: number) => {
    const bed = await startFabric(context);
    return new Side(bed, await streamEnd(context, `${bed.folder}/end`), { lport, rport, role });
  };
  return Promise.all([side('accept', one, other), side('connect', other, one)]);
}

async function joined(context: TestContext): Promise<[accepts: Side, connects: Side]> {
  const sides = await twoSides(context);
  await Promise.all(sides.map((side) => side.apply()));
  await Promise.all(sides.map((side) => side.carried('stream')));
  return sides;
}

/** A foreign client of a stream's port; it keeps all received bytes. */
async function stranger(context: TestContext, port: number) {
  const socket = connect(port, '127.0.0.1');
  context.after(() => socket.destroy());
  const received: Buffer[] = [];
  socket.on('error', () => undefined).on('data', (chunk) => received.push(chunk));
  const state = { socket, closed: false, received: () => Buffer.concat(received) };
  socket.on('close', () => {
    state.closed = true;
  });
  await once(socket, 'connect');
  return state;
}
const closed = (one: { closed: boolean }) => waitFor(() => one.closed, { what: 'the connection to be closed' });

/** Answer of the end that connects, made by hand. */
function answerTo(greeting: Buffer, key: string): Buffer {
  const own = randomBytes(16);
  const numbers = Buffer.concat([greeting.subarray(8), own]);
  return Buffer.concat([own, createHmac('sha256', key).update('connect').update(numbers).digest()]);
}

describe('the stream of a link between two fabrics', () => {
  it('measures its round trip', async (context) => {
    const sides = await twoSides(context);
    for (const side of sides) {
      const spec = side.spec();
      if (spec.b.type === 'udp' && spec.b.stream) spec.b.stream.probes = true;
      assert.deepEqual(await side.bed.client.apply([spec]), []);
    }
    await Promise.all(sides.map((side) => side.carried('stream')));
    for (const side of sides) {
      const path = await waitFor(
        async () => ((await side.stats()).path?.rttMs === undefined ? undefined : (await side.stats()).path),
        {
          what: 'a round trip',
        },
      );
      assert.ok(path?.via === 'direct' && Number(path.rttMs) > 0);
    }
    // Marks between frames are no frames.
    sides[0].end.send(frameOf('1'), frameOf('2'));
    assert.equal(textOf(await sides[1].end.receive(2)), '12');
  });

  it('carries frames both ways, longer ones than datagrams can, and filters act', async (context) => {
    const [a, b] = await joined(context);
    const lengths = [60, 1500, 9000, 65_508, 69_632];
    a.end.send(...lengths.map((length, index) => frameOf(String(index), length)));
    b.end.send(...lengths.map((length, index) => frameOf(String(index), length)));
    for (const { end } of [a, b])
      assert.deepEqual(
        (await end.receive(5)).map(({ length }) => length),
        lengths,
      );
    const { ab, ba } = await a.stats();
    assert.deepEqual([ab.sent, ab.dropped, ba.sent, ba.dropped], [5, {}, 5, {}]);
    await a.apply(secret, { filters: { frequency_drop: [2] } });
    a.end.send(...['1', '2', '3', '4'].map((text) => frameOf(text)));
    await b.end.receive(7);
    assert.deepEqual((await a.stats()).ab.dropped, { frequency_drop: 2 });
    await a.apply(secret, { suspend: true });
    b.end.send(frameOf('5'));
    await waitFor(async () => (await a.stats()).ba.dropped.suspend === 1, { what: 'the frame to be dropped' });
    assert.equal((await a.stats()).carrier, 'stream');
  });

  it('passes back-pressure on: nothing is lost, and nothing piles up', async (context) => {
    const [a, b] = await joined(context);
    b.end.socket?.pause();
    const batch = Buffer.concat(Array.from({ length: 40 }, (_, index) => prefixed(frameOf(String(index % 10), 1500))));
    let written = 0;
    while (a.end.socket?.write(batch) || written < 100) written += 1;
    const count = (written + 1) * 40;
    await waitFor(async () => (await b.stats()).ba.sent > 100, { what: 'frames to be on their way' });
    assert.ok(a.end.socket && a.end.socket.writableLength > 0, 'the sender is not held up');
    b.end.socket?.resume();
    await b.end.receive(count);
    assert.equal(b.end.frames.length, count);
    assert.deepEqual((await a.stats()).ab.dropped, {});
  });

  it('persists when both ends get another secret, which applies from the next connection on', async (context) => {
    const [a, b] = await joined(context);
    const other = 'b'.repeat(64);
    await a.apply(other);
    assert.equal((await a.stats()).carrier, 'stream');
    process.kill(b.bed.client.pid, 'SIGKILL');
    await a.carried('udp');
    await b.end.connected(2);
    b.end.send(frameOf('1'));
    assert.equal(textOf(await a.end.receive(1)), '1');
    assert.equal((await b.stats()).carrier, 'udp');
    await b.apply(other);
    await a.carried('stream');
  });
});

describe('a peer without the secret', () => {
  it('gets nothing and is disconnected at once; the two ends fall back to datagrams', async (context) => {
    const [a, b] = await twoSides(context);
    await Promise.all([a.apply(secret), b.apply('b'.repeat(64))]);
    const refused = await stranger(context, a.number);
    await waitFor(() => refused.received().length === 24, { what: 'the greeting' });
    refused.socket.write(Buffer.concat([answerTo(refused.received(), 'c'.repeat(64)), prefixed(frameOf('!'))]));
    await closed(refused);
    assert.equal(refused.received().length, 24);
    const silly = await stranger(context, a.number);
    silly.socket.write('GET / HTTP/1.1\r\nHost: stranger\r\nUser-Agent: something or other\r\n\r\n');
    await closed(silly);
    const leaves = await stranger(context, a.number);
    leaves.socket.end();
    await closed(leaves);
    a.end.send(frameOf('1'));
    b.end.send(frameOf('2'));
    assert.equal(textOf(await b.end.receive(1)) + textOf(await a.end.receive(1)), '12');
    assert.deepEqual([(await a.stats()).carrier, (await b.stats()).carrier], ['udp', 'udp']);
    assert.equal((await a.stats()).ba.received, 1);
  });

  it('can neither block the other end by waiting, nor replace it by replaying its handshake', async (context) => {
    const [a, b] = await twoSides(context);
    await a.apply();
    const idle = await Promise.all(Array.from({ length: 30 }, () => stranger(context, a.number)));
    await waitFor(() => idle.filter((one) => one.closed).length >= 22, { what: 'most of them to be cut off' });
    await b.apply();
    await b.carried('stream');
    await Promise.all(idle.map(closed));
    // An answer to another greeting is none.
    const first = await stranger(context, a.number);
    await waitFor(() => first.received().length === 24, { what: 'the greeting' });
    const answer = answerTo(first.received(), secret);
    first.socket.destroy();
    const second = await stranger(context, a.number);
    second.socket.write(answer);
    await closed(second);
    b.end.send(frameOf('1'));
    assert.equal(textOf(await a.end.receive(1)), '1');
    assert.equal((await a.stats()).carrier, 'stream');
  });

  it('is given no proof, and no frames, when he listens at the port', async (context) => {
    const [a, b] = await twoSides(context);
    const received: Buffer[] = [];
    const calls: Socket[] = [];
    const impostor = createServer((socket) => {
      calls.push(socket);
      socket.on('error', () => undefined).on('data', (chunk) => received.push(chunk));
      socket.write(Buffer.concat([Buffer.from('pbframe1'), randomBytes(16)]));
      socket.once('data', () => socket.write(randomBytes(32)));
    }).listen(a.number);
    context.after(() => {
      impostor.close();
      for (const socket of calls) socket.destroy();
    });
    await once(impostor, 'listening');
    await b.apply();
    await waitFor(() => calls.length >= 2, { what: 'another attempt' });
    b.end.send(frameOf('1'));
    await waitFor(async () => (await b.stats()).ab.sent === 1, { what: 'the frame to be sent' });
    assert.equal((await b.stats()).carrier, 'udp');
    assert.ok(received.every(({ length }) => length === 48));
    assert.equal(Buffer.concat(received).includes(secret), false);
    // The other end takes the port when it is free.
    await a.apply();
    impostor.close();
    for (const socket of calls) socket.destroy();
    await a.carried('stream');
  });
});

describe('a stream that is lost', () => {
  it('is sought again, however soon it was lost', async (context) => {
    const [a, b] = await twoSides(context);
    let calls = 0;
    const flighty = createServer((socket) => {
      calls += 1;
      const own = randomBytes(16);
      socket.on('error', () => undefined).write(Buffer.concat([Buffer.from('pbframe1'), own]));
      socket.once('data', (answer) => {
        const numbers = Buffer.concat([own, answer.subarray(0, 16)]);
        socket.write(createHmac('sha256', secret).update('accept').update(numbers).digest());
        if (calls % 2 === 0) socket.destroy();
        else socket.resetAndDestroy();
      });
    }).listen(a.number);
    context.after(() => flighty.close());
    await b.apply();
    await waitFor(() => calls >= 10, { what: 'ten attempts' });
    flighty.close();
    await a.apply();
    await b.carried('stream');
  });

  for (const which of [0, 1] as const) {
    it(`comes back when the fabric of the end that ${which === 0 ? 'accepts' : 'connects'} is killed`, async (context) => {
      const sides = await joined(context);
      const [killed, other] = [sides[which], sides[which === 0 ? 1 : 0]];
      process.kill(killed.bed.client.pid, 'SIGKILL');
      await killed.end.connected(2);
      await Promise.all(sides.map((side) => side.carried('stream')));
      killed.end.send(frameOf('1'));
      other.end.send(frameOf('2'));
      assert.match(textOf(await other.end.receive(1)) + textOf(await killed.end.receive(1)), /^12$/);
    });
  }

  it('is given up after silence, and connected again', async (context) => {
    const [a, b] = await joined(context);
    process.kill(b.bed.client.pid, 'SIGSTOP');
    await a.carried('udp');
    process.kill(b.bed.client.pid, 'SIGCONT');
    await a.carried('stream');
    await b.carried('stream');
    b.end.send(frameOf('1'));
    assert.equal(textOf(await a.end.receive(1)), '1');
  });

  it('has another in its place while its frames wait: those of the new one stay in order', async (context) => {
    const [a, b] = await joined(context);
    a.end.socket?.pause();
    const batch = prefixed(frameOf('1', 60_000));
    while (b.end.socket?.write(batch));
    await waitFor(async () => (await a.stats()).ba.sent > 3, { what: 'frames to be under way' });
    // The reader is held up until its guest reads on; the new connection is made meanwhile.
    process.kill(b.bed.client.pid, 'SIGKILL');
    await b.end.connected(2);
    await b.carried('stream');
    const numbered = Array.from({ length: 300 }, (_, index) => Buffer.alloc(1500, 200).fill(index % 100, 0, 100));
    b.end.send(...numbered);
    await waitFor(async () => (await b.stats()).ab.sent >= 300, { what: 'frames to be sent again' });
    a.end.socket?.resume();
    const small = () => a.end.frames.filter(({ length }) => length === 1500);
    await waitFor(() => small().length === 300, { what: 'all of the new frames' });
    assert.deepEqual(
      small().map((frame) => frame[0]),
      numbered.map((frame) => frame[0]),
    );
    assert.ok(a.end.frames.every(({ length }) => length === 1500 || length === 60_000));
  });

  it('continues after frames that arrived as datagrams while its own were delayed', async (context) => {
    const [a, b] = await joined(context);
    a.end.socket?.pause();
    const batch = prefixed(frameOf('1', 60_000));
    while (b.end.socket?.write(batch));
    await waitFor(async () => (await a.stats()).ba.sent > 3, { what: 'frames to be under way' });
    const wrong = 'b'.repeat(64);
    await b.apply(wrong);
    process.kill(b.bed.client.pid, 'SIGKILL');
    await Promise.all([b.end.connected(2), a.carried('udp'), b.carried('udp')]);
    // Frames of the stream that was lost may be in the queue too.
    const { queued } = (await a.stats()).ba;
    b.end.send(frameOf('2'), frameOf('3'));
    await waitFor(async () => (await a.stats()).ba.queued === queued + 2, { what: 'datagrams in the queue' });
    await b.apply();
    await b.carried('stream');
    b.end.send(frameOf('4'));
    a.end.socket?.resume();
    await waitFor(() => textOf(a.end.frames).endsWith('4'), { what: 'the last frame' });
    assert.match(textOf(a.end.frames), /^1+234$/);
  });
});
