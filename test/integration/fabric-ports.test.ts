/** Frames come in and go out: framing, back-pressure, ends that come and go, datagrams. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { loadNative } from '../../src/fabric/ports/native.ts';
import type { BpfInstruction, FabricLinkStats } from '../../src/fabric/protocol.ts';
import { noContainerEnds } from '../support/container-end.ts';
import { freeUdpPort, prefixed, UdpEnd, type UdpFamily } from '../support/frame-ends.ts';
import { waitFor } from '../support/wait-for.ts';
import { linkOf, startFabric, startLink, streamEnd } from '../support/with-fabric.ts';

const frameOf = (text: string, length = 60) => Buffer.alloc(length, text);
const run = promisify(execFile);
const calls = await loadNative();
const noTaps = await noContainerEnds();
const textOf = (frames: readonly Buffer[]) => frames.map((frame) => String.fromCharCode(frame[0] ?? 0)).join('');

describe('stream ports', () => {
  it('carry frames both ways and count them', async (context) => {
    const { a, b, stats } = await startLink(context);
    a.send(frameOf('x', 100), frameOf('y', 1500));
    b.send(frameOf('z', 64));
    assert.deepEqual(await b.receive(2), [frameOf('x', 100), frameOf('y', 1500)]);
    assert.deepEqual(await a.receive(1), [frameOf('z', 64)]);
    const nothing = { dropped: {}, queued: 0, queuedBytes: 0 };
    const { since: _since, ab, ba, ...link } = await stats();
    const counts = ({ rates: _rates, ...counters }: typeof ab) => counters;
    assert.deepEqual(
      { ...link, ab: counts(ab), ba: counts(ba) },
      {
        id: 'link',
        connected: { a: true, b: true },
        ab: { received: 2, receivedBytes: 1600, sent: 2, sentBytes: 1600, ...nothing },
        ba: { received: 1, receivedBytes: 64, sent: 1, sentBytes: 64, ...nothing },
      },
    );
  });

  it('put frames together that come in pieces of any size', async (context) => {
    const { a, b } = await startLink(context);
    a.socket?.setNoDelay(true);
    const frames = Array.from({ length: 12 }, (_, index) => Buffer.alloc(1 + index * 37, index));
    const bytes = Buffer.concat(frames.map(prefixed));
    for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 5) % 61 || 1) {
      a.sendRaw(bytes.subarray(at, at + size));
      // Each piece is a read of its own on the other side.
      await new Promise(setImmediate);
    }
    assert.deepEqual(await b.receive(12), frames);
  });

  it('carry the longest frames, and many times the buffer', async (context) => {
    const { a, b } = await startLink(context);
    const frames = Array.from({ length: 60 }, (_, index) => Buffer.alloc(69_632 - index, index));
    a.send(...frames);
    const received = await b.receive(60);
    assert.ok(frames.every((frame, index) => received[index]?.equals(frame)));
  });

  it('skip empty frames and resynchronise after an invalid length', async (context) => {
    const { a, b } = await startLink(context);
    a.sendRaw(
      Buffer.concat([Buffer.alloc(8), prefixed(frameOf('1')), Buffer.alloc(4), prefixed(frameOf('2')), Buffer.alloc(4, 0xff)]),
    );
    await a.connected(2);
    a.send(frameOf('3'));
    assert.equal(textOf(await b.receive(3)), '123');
    assert.equal(b.connections, 1);
  });

  it('are sent only what their program admits, behind all filters; the other way everything comes', async (context) => {
    const { a, b, client, change, stats } = await startLink(context);
    const admitting = (admits: BpfInstruction[]) => ({ b: { type: 'stream', path: `${b.port.path}`, admits } }) as const;
    // Frames that begin with "1"; a load beyond the frame's end answers 0.
    const ones: BpfInstruction[] = [
      [0x28, 0, 0, 60],
      [0x30, 0, 0, 0],
      [0x15, 0, 1, 0x31],
      [6, 0, 0, 1],
      [6, 0, 0, 0],
    ];
    await change(admitting(ones));
    a.send(frameOf('1', 62), frameOf('2', 62), frameOf('1', 61), frameOf('1', 63));
    b.send(frameOf('3'));
    assert.deepEqual(await b.receive(2), [frameOf('1', 62), frameOf('1', 63)]);
    assert.equal(textOf(await a.receive(1)), '3');
    assert.equal((await stats()).ab.dropped.not_admitted, 2);
    // Damages the middle of each frame.
    const middle = ones.map((line) => (line[0] === 0x30 ? ([0x30, 0, 0, 31] as const) : line)) as BpfInstruction[];
    await change({ ...admitting(middle), filters: { corrupt: [100], delay: [1, 0] } });
    a.send(...Array.from({ length: 50 }, () => frameOf('1', 62)));
    await waitFor(async () => (await stats()).ab.received === 54, { what: 'all frames to be received' });
    assert.equal((await stats()).ab.dropped.not_admitted, 52);
    for (const bad of [[], [[1, 2]]]) await assert.rejects(change(admitting(bad as BpfInstruction[])), /program|numbers/);
    assert.match(
      (await client.apply([linkOf(a.port, { ...b.port, admits: 'all' } as never)]))[0]?.error ?? '',
      /b\.admits must be a list/,
    );
    await change({});
    a.send(frameOf('4'));
    assert.equal(textOf(await b.receive(3)).at(-1), '4');
  });

  it('connect again, and forget a torn frame', async (context) => {
    const { a, b, stats } = await startLink(context);
    a.sendRaw(Buffer.concat([prefixed(frameOf('1')), Buffer.from([0, 0, 5, 0, 1, 2, 3])]));
    await b.receive(1);
    a.socket?.destroy();
    await a.connected(2);
    a.send(frameOf('2'));
    assert.equal(textOf(await b.receive(2)), '12');
    await waitFor(async () => (await stats()).connected.a, { what: 'the port to be connected' });
  });

  it('wait for a late end, and count frames that could not be delivered', async (context) => {
    const { client, folder } = await startFabric(context);
    const a = await streamEnd(context, `${folder}/a`);
    await client.apply([linkOf(a.port, { type: 'stream', path: `${folder}/b` })]);
    await a.connected();
    a.send(frameOf('1'));
    await waitFor(async () => (await client.stats())[0]?.ab.dropped.no_peer === 1, { what: 'the frame to be counted' });
    const b = await streamEnd(context, `${folder}/b`);
    await b.connected();
    a.send(frameOf('2'));
    assert.equal(textOf(await b.receive(1)), '2');
  });

  it('pass back-pressure on and lose nothing', async (context) => {
    const { a, b, stats } = await startLink(context);
    b.socket?.pause();
    const batch = Buffer.concat(Array.from({ length: 40 }, (_, index) => prefixed(frameOf(String(index % 10), 1500))));
    let written = 0;
    while (a.socket?.write(batch) || written < 100) written += 1;
    assert.ok(a.socket && a.socket.writableLength > 0, 'the sender is not held up');
    b.socket?.resume();
    const count = (written + 1) * 40;
    await b.receive(count);
    assert.equal(b.frames.length, count);
    assert.deepEqual((await stats()).ab.dropped, {});
  });

  it('resume after a stalled end disconnects', async (context) => {
    const { a, b, stats } = await startLink(context);
    b.socket?.pause();
    const batch = prefixed(frameOf('1', 60_000));
    while (a.socket?.write(batch));
    await waitFor(async () => (await stats()).ab.sent > 3, { what: 'frames to be under way' });
    b.socket?.destroy();
    await b.connected(2);
    a.send(frameOf('2'));
    await waitFor(() => textOf(b.frames).endsWith('2'), { what: 'the last frame' });
    assert.ok(textOf(b.frames).match(/^1*2$/));
  });

  it('resume when a stalled end is replaced', async (context) => {
    const { client, folder, a, b, stats } = await startLink(context);
    const other = await streamEnd(context, `${folder}/other`);
    b.socket?.pause();
    const batch = prefixed(frameOf('1', 60_000));
    while (a.socket?.write(batch));
    await waitFor(async () => (await stats()).ab.sent > 3, { what: 'frames to be under way' });
    await client.apply([linkOf(other.port, b.port)]);
    await other.connected();
    other.send(frameOf('2'));
    b.socket?.resume();
    await waitFor(() => textOf(b.frames).endsWith('2'), { what: 'the last frame' });
    assert.equal(b.connections, 1);
  });
});

describe('datagram ports', () => {
  async function bed(context: TestContext, strict: boolean, family: UdpFamily = 'udp4') {
    const { client, folder } = await startFabric(context);
    const [stream, udp, lport] = [await streamEnd(context, `${folder}/a`), await UdpEnd.bind(family), await freeUdpPort()];
    context.after(() => udp.close());
    udp.peer = lport;
    const [any, one] = family === 'udp4' ? ['0.0.0.0', '127.0.0.1'] : ['::', '::1'];
    const rhost = strict ? any : one;
    const port = { type: 'udp', lport, rhost, rport: udp.number, strict } as const;
    assert.deepEqual(await client.apply([linkOf(stream.port, port)]), []);
    await stream.connected();
    return { client, stream, udp, lport };
  }

  for (const [strict, family] of [[false], [true], [false, 'udp6'], [true, 'udp6']] as const) {
    const which = `${strict ? ', of the named peer only' : ''}${family ? ', by IPv6' : ''}`;
    it(`carry a frame per datagram${which}`, async (context) => {
      const { client, stream, udp, lport } = await bed(context, strict, family);
      const stranger = await UdpEnd.bind(family);
      stranger.peer = lport;
      stranger.send(frameOf('!'));
      stream.send(frameOf('1', 60), frameOf('2', 1500), frameOf('3', 66_000), frameOf('4', 65_507));
      for (let index = 0; index < 50; index += 1) udp.send(frameOf(String(index % 10), 60 + index));
      assert.equal(textOf(await udp.receive(3)), '124');
      assert.deepEqual(
        (await udp.receive(3)).map(({ length }) => length),
        [60, 1500, 65_507],
      );
      const received = await stream.receive(strict ? 50 : 51);
      await stranger.close();
      assert.equal(textOf(received).replace('!', '').length, 50);
      assert.equal(textOf(received).includes('!'), !strict);
      const stats: FabricLinkStats | undefined = (await client.stats())[0];
      assert.deepEqual([stats?.ab.sent, stats?.ab.dropped.oversized], [3, 1]);
    });
  }

  it('do not send invalid frames to a network device', async (context) => {
    const { client, stream, udp, lport } = await bed(context, false);
    const port = { type: 'udp', lport, rhost: '127.0.0.1', rport: udp.number, mtu: 1500 } as const;
    assert.deepEqual(await client.apply([linkOf(stream.port, port)]), []);
    await stream.connected();
    const tagged = frameOf('3', 1518);
    tagged.writeUInt16BE(0x8100, 12);
    stream.send(
      frameOf('1', 13),
      frameOf('2', 1514),
      tagged,
      frameOf('4', 1515),
      Buffer.concat([tagged, Buffer.alloc(1)]),
      frameOf('5'),
    );
    assert.equal(textOf(await udp.receive(3)), '235');
    assert.equal((await client.stats())[0]?.ab.dropped.oversized, 3);
  });

  it('keep working when the peer refuses', async (context) => {
    const { stream, udp, lport } = await bed(context, true);
    const number = udp.number;
    const port = { port: number, address: '127.0.0.1' };
    await udp.close();
    for (let count = 0; count < 3; count += 1) stream.send(frameOf('1'));
    const again = createSocket('udp4').bind(port);
    await once(again, 'listening');
    const received = once(again, 'message');
    const sending = setInterval(() => stream.send(frameOf('2')), 10);
    await received;
    clearInterval(sending);
    again.send(frameOf('3'), lport, '127.0.0.1');
    assert.equal(textOf(await stream.receive(1)), '3');
    again.close();
  });

  it('say why they could not be bound, and try again', async (context) => {
    const { client, folder } = await startFabric(context);
    const [a, b] = [await streamEnd(context, `${folder}/a`), await streamEnd(context, `${folder}/b`)];
    const lport = await freeUdpPort();
    const udp = { type: 'udp', lport, rhost: '127.0.0.1', rport: 9 } as const;
    assert.deepEqual(await client.apply([linkOf(a.port, udp, { id: 'one' })]), []);
    const failures = await client.apply([linkOf(b.port, udp, { id: 'two' }), linkOf(a.port, b.port, { id: 'three' })]);
    assert.deepEqual(
      failures.map(({ id }) => id),
      ['two'],
    );
    assert.match(failures[0]?.error ?? '', /EADDRINUSE/);
    const connected = async () => Object.fromEntries((await client.stats()).map((link) => [link.id, link.connected.b]));
    await waitFor(async () => (await connected()).three, { what: 'the third link' });
    assert.deepEqual(await connected(), { one: true, two: false, three: true });
    await client.remove(['one']);
    await waitFor(async () => (await connected()).two, { what: 'the second link to get its port' });
  });

  it('can change places in one request', async (context) => {
    const { client } = await startFabric(context);
    const [one, other] = [await freeUdpPort(), await freeUdpPort()];
    const udp = (lport: number) => ({ type: 'udp', lport, rhost: '127.0.0.1', rport: 9, bind: '127.0.0.1' }) as const;
    const nowhere = { type: 'stream', path: '/nonexistent/socket' } as const;
    const links = (first: number, second: number) => [
      linkOf(nowhere, udp(first), { id: 'first' }),
      linkOf(nowhere, udp(second), { id: 'second' }),
    ];
    assert.deepEqual(await client.apply(links(one, other)), []);
    assert.deepEqual(await client.apply(links(other, one)), []);
    assert.deepEqual(await client.sync([linkOf(nowhere, udp(one), { id: 'third' })]), []);
  });
});

describe('ports on interfaces of the host', { skip: noTaps }, () => {
  it('carry VLAN tags as they are, which the kernel takes out of frames that come in', async (context) => {
    const { client, folder } = await startFabric(context);
    const [one, other] = ['a', 'b'].map((side) => `pbv${randomBytes(4).toString('hex')}${side}`) as [string, string];
    await run('ip', ['link', 'add', one, 'type', 'veth', 'peer', 'name', other]);
    context.after(() => run('ip', ['link', 'delete', one]));
    for (const name of [one, other]) await run('ip', ['link', 'set', 'dev', name, 'addrgenmode', 'none', 'up']);
    // The kernel drops what is sent before it has noticed the carrier.
    const isUp = async (name: string) => (await readFile(`/sys/class/net/${name}/operstate`, 'utf8')) === 'up\n';
    for (const name of [one, other]) await waitFor(() => isUp(name), { what: `the carrier of ${name}`, everyMs: 10 });
    const [a, b] = [await streamEnd(context, `${folder}/a`), await streamEnd(context, `${folder}/b`)];
    const packet = (name: string) => ({ type: 'packet' as const, interface: name });
    const links = [linkOf(a.port, packet(one), { id: 'one' }), linkOf(packet(other), b.port, { id: 'other' })];
    assert.deepEqual(await client.apply(links), []);
    await Promise.all([a.connected(), b.connected()]);
    const addresses = 'ffffffffffff0200000000aa';
    const sent = ['88b5', '8100e00788b5', '8100000788b5', '88a8000581000006ffff88b5', '810000018100000288b5'].map((types, index) =>
      Buffer.concat([Buffer.from(addresses + types, 'hex'), Buffer.alloc(60 + index * 300, index + 1)]),
    );
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      from.send(...sent);
      const isOurs = (frame: Buffer) => frame.subarray(6, 12).toString('hex') === addresses.slice(12);
      const received = await waitFor(
        () => (to.frames.filter(isOurs).length === sent.length ? to.frames.filter(isOurs) : undefined),
        {
          what: 'all frames',
        },
      );
      assert.deepEqual(received, sent);
    }
  });
});

describe('ports on Unix datagram sockets', () => {
  it('count what a missing peer and one that hangs do not take as dropped', async (context) => {
    const { client, folder } = await startFabric(context);
    const a = await streamEnd(context, `${folder}/a`);
    const peer = `${folder}/peer`;
    const port = { type: 'datagrams' as const, path: `${folder}/own`, peer, header: 'aabb' };
    assert.deepEqual(await client.apply([linkOf(a.port, port)]), []);
    await a.connected();
    const counts = async () => (await client.stats())[0]?.ab;
    a.send(frameOf('x'), frameOf('y'));
    const missing = await waitFor(async () => ((await counts())?.dropped.no_peer === 2 ? await counts() : undefined), {
      what: 'frames without a peer',
    });
    assert.deepEqual([missing.sent, missing.dropped], [0, { no_peer: 2 }]);
    // The peer does not read before frames were given up. Their number is more than its queue holds, which depends on the host.
    const more = Number(await readFile('/proc/sys/net/unix/max_dgram_qlen', 'latin1')) + 100;
    const descriptor = calls.openDatagrams(peer);
    context.after(() => calls.close(descriptor));
    a.send(...Array.from({ length: more }, () => frameOf('z')));
    await waitFor(async () => (await counts())?.dropped.queue_full, { what: 'frames that were given up' });
    const buffer = Buffer.alloc(100);
    let taken = 0;
    const hung = await waitFor(
      async () => {
        while (calls.read(descriptor, { buffer, at: 0, room: 100 }) > 0) taken += 1;
        const now = await counts();
        return now?.received === more + 2 && now.queued === 0 && now.sent === taken && now;
      },
      { what: 'all frames, sent or given up' },
    );
    assert.ok(taken > 0);
    assert.deepEqual(hung.dropped, { no_peer: 2, queue_full: more - taken });
  });
});

describe('mirrors of a link', () => {
  it('are sent the frames of both directions after the filters, and nothing from them reaches the link', async (context) => {
    const { client, folder, a, b, change, stats } = await startLink(context);
    const mirror = await streamEnd(context, `${folder}/mirror`);
    await change({ mirrors: [{ id: 'm', port: mirror.port }], filters: { packet_loss_ba: [100] } });
    await mirror.connected();
    mirror.send(frameOf('m'));
    a.send(frameOf('x', 100), frameOf('y', 1500));
    b.send(frameOf('z', 64));
    await waitFor(async () => (await stats()).ba.dropped.packet_loss === 1, { what: 'the loss' });
    await change({ mirrors: [{ id: 'm', port: mirror.port }] });
    b.send(frameOf('w', 64));
    assert.equal(textOf(await mirror.receive(3)), 'xyw');
    assert.equal(textOf(await b.receive(2)), 'xy');
    assert.equal(textOf(await a.receive(1)), 'w');
    assert.deepEqual((await stats()).mirrors, [{ id: 'm', connected: true, sent: 3, queued: 0, dropped: {} }]);
    // Taken away: frames pass as before, and the port can be a link's end.
    await change({});
    assert.equal((await stats()).mirrors, undefined);
    const other = await streamEnd(context, `${folder}/other`);
    assert.deepEqual(await client.apply([{ ...linkOf(mirror.port, other.port), id: 'other' }]), []);
    await other.connected();
    other.send(frameOf('o'));
    a.send(frameOf('v'));
    assert.equal(textOf(await b.receive(3)), 'xyv');
    assert.equal(textOf(await mirror.receive(4)), 'xywo');
  });

  it('count frames that a TAP interface refuses as dropped', { skip: noTaps }, async (context) => {
    const { a, b, change, stats } = await startLink(context);
    const name = `pbm${randomBytes(5).toString('hex')}`;
    await run('ip', ['tuntap', 'add', 'dev', name, 'mode', 'tap']);
    context.after(() => run('ip', ['link', 'delete', name]));
    // The interface is down: the kernel refuses every frame.
    await change({ mirrors: [{ id: 'm', port: { type: 'tap', name } }] });
    a.send(frameOf('x', 100));
    await b.receive(1);
    const [mirror] = await waitFor(
      async () => {
        const { mirrors = [] } = await stats();
        return mirrors.some(({ dropped }) => Object.keys(dropped).length > 0) && mirrors;
      },
      { what: 'the frame that was refused' },
    );
    assert.deepEqual([mirror?.sent, mirror?.dropped], [0, { queue_full: 1 }]);
  });

  it('that are missing or slow delay no frame of the link, and count what they lose', async (context) => {
    const { folder, a, b, change, stats } = await startLink(context);
    const slow = await streamEnd(context, `${folder}/slow`);
    const mirrors = [
      { id: 'slow', port: slow.port },
      { id: 'gone', port: { type: 'stream' as const, path: `${folder}/nothing` } },
    ];
    await change({ mirrors });
    await slow.connected();
    slow.socket?.pause();
    const frames = 3000;
    for (let sent = 0; sent < frames; sent += 100) {
      a.send(...Array.from({ length: 100 }, () => frameOf('f', 1500)));
      await b.receive(sent + 100);
    }
    const lost = await waitFor(
      async () => {
        const [one, other] = (await stats()).mirrors ?? [];
        return (one?.dropped.queue_full ?? 0) > 0 && other?.dropped.no_peer === frames && one;
      },
      { what: 'what was not mirrored' },
    );
    assert.equal(lost.sent + lost.queued + (lost.dropped.queue_full ?? 0), frames);
    assert.deepEqual((await stats()).ab.dropped, {});
    slow.socket?.resume();
    await slow.receive(lost.sent + lost.queued);
  });
});
