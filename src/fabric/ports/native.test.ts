/** The foreign calls, on TAP interfaces of the test's own. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { describe, it, type TestContext } from 'node:test';
import { freeUdpPort } from '../../../test/support/frame-ends.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { runTool } from '../../process/tool.ts';
import { maxDatagrams } from './datagram-messages.ts';
import { loadNative, maxPieces, type Native } from './native.ts';
import type { ReadableWatch } from './readable-watch.ts';

const { EADDRINUSE, EAGAIN, EBADF, EINVAL, ENAMETOOLONG, ENODEV, ENOENT } = constants.errno;
const calls = await loadNative();
const isRoot = process.geteuid?.() === 0;
const skip = isRoot ? false : 'TAP interfaces need root';

async function upTap(context: TestContext, calls: Native): Promise<{ name: string; descriptor: number }> {
  const name = `pbs${randomBytes(4).toString('hex')}`;
  const descriptor = calls.openTap(name, { isTemporary: true });
  assert.ok(descriptor > 0, String(descriptor));
  context.after(() => calls.close(descriptor));
  assert.equal((await runTool('ip', ['link', 'set', 'dev', name, 'up'], { timeoutMs: 5000 })).reason, '');
  return { name, descriptor };
}

describe('native', { skip }, () => {
  it('opens no interface that does not exist, and none with an invalid name', async (context) => {
    assert.equal(calls.openTap('pbsnothing'), -ENODEV);
    for (const name of ['', 'sixteen-letters!', '\0']) assert.ok(calls.openTap(name) < 0, name);
    const { name } = await upTap(context, calls);
    // The interface is not persistent: no second descriptor attaches to it.
    assert.ok(calls.openTap(name) < 0);
  });

  it('refuses ranges outside of a buffer, and closed descriptors', async (context) => {
    const { descriptor } = await upTap(context, calls);
    const buffer = Buffer.alloc(100);
    const ranges = [
      [-1, 60],
      [60, 60],
      [70, 60],
      [0, 101],
      [Number.NaN, 60],
      [0, Number.POSITIVE_INFINITY],
    ] as const;
    for (const [start, end] of ranges) assert.equal(calls.write(descriptor, buffer, start, end), -EINVAL, `${start} to ${end}`);
    const rooms = [
      [-1, 10],
      [0, 0],
      [0, 101],
      [99, 2],
      [Number.NaN, 1],
    ] as const;
    for (const [at, room] of rooms) assert.equal(calls.read(descriptor, { buffer, at, room }), -EINVAL, `${room} at ${at}`);
    assert.equal(calls.write(descriptor, buffer, 0, 10), -EINVAL, 'shorter than a header');
    const pieces = calls.pieces();
    assert.equal(calls.writePieces(descriptor, pieces), -EINVAL, 'nothing');
    for (const [start, end] of ranges) assert.equal(pieces.add(buffer, start, end), false, `${start} to ${end}`);
    for (const [at, room] of rooms) assert.equal(calls.readBehind(descriptor, buffer, { buffer, at, room }), -EINVAL);
    for (let piece = 0; piece < maxPieces; piece += 1) assert.equal(pieces.add(buffer, 0, 1), true);
    assert.equal(pieces.add(buffer, 0, 1), false, 'no more than there is room for');
    assert.equal(calls.writePieces(-1, pieces), -EBADF);
    assert.equal(calls.read(-1, { buffer, at: 0, room: 100 }), -EBADF);
    assert.equal(calls.write(-1, buffer, 0, 100), -EBADF);
  });

  it('reads what the host sends, into the middle of a buffer, when frames are waiting', async (context) => {
    const { name, descriptor } = await upTap(context, calls);
    const other = await upTap(context, calls);
    const buffer = Buffer.alloc(4096, 0xee).subarray(1000, 3000);
    const { promise, resolve } = Promise.withResolvers<number>();
    const watch = calls.watch(descriptor, () => {
      // The host sends frames of its own, which may be longer.
      buffer.fill(0xee);
      const length = calls.read(descriptor, { buffer, at: 100, room: 1900 });
      if (length > 0 && buffer.subarray(100, 100 + length).includes('hello')) resolve(length);
    });
    context.after(() => watch.close());
    // The kernel passes what comes in at the one on to the other.
    const rules = [
      `qdisc add dev ${other.name} clsact`,
      `filter add dev ${other.name} ingress protocol all u32 match u32 0 0 action mirred egress redirect dev ${name}`,
    ];
    const { reason } = await runTool('tc', ['-batch', '-'], { timeoutMs: 5000, input: `${rules.join('\n')}\n` });
    if (reason !== '') return context.skip(`the kernel has no such rules: ${reason}`);
    const frame = Buffer.alloc(80, 'hello');
    assert.equal(calls.write(other.descriptor, frame, 0, 80), 80);
    assert.equal(await promise, 80);
    assert.ok(buffer.subarray(100, 180).equals(frame));
    assert.deepEqual([buffer[99], buffer[180]], [0xee, 0xee], 'nothing beside the frame was written');
    let length = 1;
    while (length > 0) length = calls.read(descriptor, { buffer, at: 0, room: buffer.length });
    assert.equal(length, -EAGAIN, 'and nothing waits');
  });
});

describe('native sockets', () => {
  it('send and receive as many datagrams of UDP in one call as there is room for', async (context) => {
    const port = await freeUdpPort();
    const [one, other] = [calls.udpAddress('127.77.0.1', port), calls.udpAddress('127.77.0.2', port)];
    const bufferBytes = 1 << 20;
    const [near, far] = [calls.openUdp(one, { bufferBytes }), calls.openUdp(other, { bufferBytes, from: one })];
    let watch: ReadableWatch | undefined;
    context.after(() => {
      watch?.close();
      for (const descriptor of [near, far]) calls.close(descriptor);
    });
    assert.ok(near > 0 && far > 0, `${near} ${far}`);
    assert.equal(calls.openUdp(one, { bufferBytes }), -EADDRINUSE);
    assert.equal(calls.receiveDatagrams(far), -EAGAIN);
    const { outgoing, incoming } = calls;
    const buffer = Buffer.from(Array.from({ length: 300 }, (_, index) => index));
    outgoing.clear();
    outgoing.addressTo(other);
    for (const [start, end] of [
      [0, 301],
      [-1, 5],
      [7, 7],
    ] as const)
      assert.equal(outgoing.add(buffer, start, end), false, `${start} to ${end}`);
    assert.equal(calls.sendDatagrams(near, 0), -EINVAL, 'nothing');
    for (let index = 0; index < maxDatagrams; index += 1) assert.equal(outgoing.add(buffer, index, 2 * index + 1), true);
    assert.equal(outgoing.add(buffer, 0, 1), false, 'no more than there is room for');
    assert.equal(calls.sendDatagrams(-1, 0), -EBADF);
    for (const from of [-1, maxDatagrams, Number.NaN]) assert.equal(calls.sendDatagrams(near, from), -EINVAL, `from ${from}`);
    assert.equal(calls.sendDatagrams(near, 1), maxDatagrams - 1);
    const target = Buffer.alloc(1000);
    let received = 0;
    const complete = Promise.withResolvers<void>();
    const check = (index: number) => {
      const [start, length] = [received + 1, received + 2];
      received += 1;
      assert.equal(incoming.length(index), length);
      assert.deepEqual([incoming.isFrom(index, one), incoming.isFrom(index, other)], [true, false]);
      incoming.copy(index, target.fill(0xee), 10);
      assert.ok(target.subarray(10, 10 + length).equals(buffer.subarray(start, start + length)));
      assert.deepEqual([target[9], target[10 + length]], [0xee, 0xee]);
    };
    watch = calls.watch(far, () => {
      calls.receiveDatagrams(far);
      try {
        for (let index = 0; index < incoming.count; index += 1) check(index);
      } catch (error) {
        complete.reject(error);
      }
      if (received === maxDatagrams - 1) complete.resolve();
    });
    await complete.promise;
    assert.equal(calls.receiveDatagrams(far), -EAGAIN, 'and nothing waits');
  });

  it('read addresses of both families, and refuse what is none', () => {
    const addressOf = (host: string) => calls.udpAddress(host, 7).bytes.toString('hex');
    assert.equal(addressOf('127.77.0.1'), `02000007${'7f4d0001'}${'00'.repeat(20)}`);
    assert.equal(addressOf('2001:db8::1%3'), `0a000007${'00'.repeat(4)}20010db8${'00'.repeat(11)}0103000000`);
    for (const host of ['', 'localhost', '1.2.3', '1.2.3.4.5', '::g', '127.0.0.1\0'])
      assert.throws(() => addressOf(host), /is no address/);
  });

  it('connect to no stream that is not there', () => {
    assert.equal(calls.openStream('/nowhere/socket'), -ENOENT);
    assert.equal(calls.openStream(`/${'x'.repeat(107)}`), -ENAMETOOLONG);
  });

  it('receive UDP from one address and port only, if wanted', async (context) => {
    const [port, otherPort] = [await freeUdpPort(), await freeUdpPort()];
    const bufferBytes = 1 << 16;
    const [wanted, target] = [calls.udpAddress('127.77.0.3', port), calls.udpAddress('127.77.0.4', port)];
    const senders = [wanted, calls.udpAddress('127.77.0.3', otherPort), calls.udpAddress('127.77.0.5', port)];
    const descriptors = senders.map((address) => calls.openUdp(address, { bufferBytes }));
    const receiver = calls.openUdp(target, { bufferBytes, from: wanted });
    context.after(() => {
      for (const descriptor of [receiver, ...descriptors]) calls.close(descriptor);
    });
    const { outgoing, incoming } = calls;
    outgoing.clear();
    outgoing.addressTo(target);
    outgoing.add(Buffer.alloc(60), 0, 60);
    // The wanted one comes last. A busy kernel delivers some time after the call.
    for (const descriptor of descriptors.toReversed()) assert.equal(calls.sendDatagrams(descriptor, 0), 1);
    await waitFor(() => calls.receiveDatagrams(receiver) > 0, { what: 'a datagram' });
    assert.equal(incoming.count, 1);
    assert.ok(incoming.isFrom(0, wanted));
  });
});
