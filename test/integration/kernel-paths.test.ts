/** Links between containers: which way their frames take, that nothing is lost when it changes, and what survives which death. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KernelCounters } from '../../src/fabric/kernel-paths/kernel-counters.ts';
import { KernelPath, KernelPaths } from '../../src/fabric/kernel-paths/kernel-paths.ts';
import { PathProofs } from '../../src/fabric/kernel-paths/path-proofs.ts';
import { InterfacePlace } from '../../src/fabric/ports/interface-place.ts';
import { loadNative } from '../../src/fabric/ports/native.ts';
import type { FabricLinkStats, LinkSpec } from '../../src/fabric/protocol.ts';
import { ContainerEnd, noContainerEnds } from '../support/container-end.ts';
import { parsePcap } from '../support/pcap.ts';
import { waitFor } from '../support/wait-for.ts';
import { type FabricBed, linkOf, startFabric } from '../support/with-fabric.ts';

const run = promisify(execFile);
const skip = await noContainerEnds();
const traffic = fileURLToPath(new URL('../support/sequence-traffic.ts', import.meta.url));
const [addressA, addressB] = ['10.71.0.1', '10.71.0.2'];
const port = '5005';

interface Lab extends FabricBed {
  readonly a: ContainerEnd;
  readonly b: ContainerEnd;
  change(changes?: Partial<LinkSpec>): Promise<void>;
  stats(): Promise<FabricLinkStats>;
  /** Resolves when the link's frames take this way: `kernel`, or undefined for the fabric. */
  carriedBy(carrier: 'kernel' | undefined): Promise<void>;
}

async function lab(context: TestContext): Promise<Lab> {
  const bed = await startFabric(context);
  const ends: ContainerEnd[] = [];
  for (const address of [addressA, addressB]) {
    const end = await ContainerEnd.make(bed.folder, `${address}/24`);
    context.after(() => end.remove());
    ends.push(end);
  }
  const [a, b] = ends as [ContainerEnd, ContainerEnd];
  const change = async (changes: Partial<LinkSpec> = {}) => {
    assert.deepEqual(await bed.client.apply([linkOf(a.port, b.port, changes)]), []);
  };
  const stats = async () => {
    const [link] = await bed.client.stats(['link']);
    assert.ok(link);
    return link;
  };
  const carriedBy = async (carrier: 'kernel' | undefined) => {
    await waitFor(async () => (await stats()).carrier === carrier, { what: `the carrier ${carrier}` });
  };
  await bed.client.sync([]);
  await change();
  await carriedBy('kernel');
  return { ...bed, a, b, change, stats, carriedBy };
}

async function finish<T>(child: ChildProcess): Promise<T> {
  const output = (child.stdout as NonNullable<typeof child.stdout>).toArray() as Promise<Buffer[]>;
  child.stdin?.end();
  return JSON.parse(
    Buffer.concat(await output)
      .toString()
      .replace('ready', ''),
  );
}

/** Whether the checksum of UDP or TCP over IP is right; undefined for other frames. */
function hasRightChecksum(frame: Buffer): boolean | undefined {
  const ip = frame.readUInt16BE(12) === 0x8100 ? 18 : 14;
  const type = frame.readUInt16BE(ip - 2);
  const isIpv4 = type === 0x0800;
  const protocol = frame[ip + (isIpv4 ? 9 : 6)] as number;
  if ((!isIpv4 && type !== 0x86dd) || (protocol !== 6 && protocol !== 17)) return undefined;
  const from = ip + (isIpv4 ? 20 : 40);
  const end = isIpv4 ? ip + frame.readUInt16BE(ip + 2) : from + frame.readUInt16BE(ip + 4);
  const words = [...frame.subarray(ip + (isIpv4 ? 12 : 8), end), ...((end - from) % 2 === 0 ? [] : [0])];
  let sum = protocol + end - from;
  for (let at = 0; at < words.length; at += 2) sum += (words[at] as number) * 256 + (words[at + 1] as number);
  return sum % 0xffff === 0;
}

interface Outcome {
  readonly sent: number;
  readonly received: number;
  readonly twice: number;
  readonly late: number;
  /** Frames that left the one end and arrived at the other, as the kernel counts them there. */
  readonly left: number;
  readonly arrived: number;
}

/** Numbered datagrams from one end to the other while `work` is done; what became of them. */
async function underTraffic(from: ContainerEnd, to: ContainerEnd, work: () => Promise<void>): Promise<Outcome> {
  const receiver = to.spawn(process.execPath, traffic, 'receive', port);
  const before = [await from.counts(), await to.counts()] as const;
  let sender: ChildProcess | undefined;
  const passed = async () => {
    const [one, other] = [await from.counts(), await to.counts()];
    return { left: one.sent - before[0].sent, arrived: other.received - before[1].received };
  };
  try {
    await once(receiver.stdout as NonNullable<typeof receiver.stdout>, 'readable');
    sender = from.spawn(process.execPath, traffic, 'send', addressB, port, '5000');
    await waitFor(async () => (await passed()).arrived > 500, { what: 'traffic' });
    await work();
    const { sent } = await finish<{ sent: number }>(sender);
    await waitFor(async () => (await passed()).arrived >= sent, { what: 'the last frames', limitMs: 2000 }).catch(() => undefined);
    return { sent, ...(await finish<{ received: number; twice: number; late: number }>(receiver)), ...(await passed()) };
  } finally {
    receiver.kill();
    sender?.kill();
  }
}

const ping = (from: ContainerEnd, address: string, count = 3) =>
  from.run('busybox', 'ping', '-c', String(count), '-i', '0.02', '-W', '5', address);

describe('a link between containers', { skip }, () => {
  it('is switched between kernel and fabric under traffic, and loses nothing', async (context) => {
    const { a, b, change, stats, carriedBy } = await lab(context);
    await ping(a, addressB);
    const carriers = [await a.carrierChanges(), await b.carrierChanges()];
    const { sent: sentBefore } = await a.counts();
    const before = await waitFor(async () => (await stats()).ab.sent === sentBefore && stats(), { what: 'counters of the pings' });
    const ways: (string | undefined)[] = [];
    const result = await underTraffic(a, b, async () => {
      for (let round = 0; round < 12; round += 1) {
        // A filter that lets everything pass, one that delays, and none.
        await change({ filters: round % 2 === 0 ? { bandwidth: [10_000_000] } : { delay: [3] } });
        ways.push((await stats()).carrier);
        await change();
        await carriedBy('kernel');
      }
    });
    assert.deepEqual(new Set(ways), new Set([undefined]), 'a filter is in force when the request is answered');
    assert.equal(result.arrived, result.left, JSON.stringify(result));
    assert.ok(result.left >= result.sent && result.sent > 1000, JSON.stringify(result));
    assert.equal(result.twice, 0);
    // Counters of the kernel are at most some tenths of a second old.
    const added = async () => (await stats()).ab.sent - before.ab.sent;
    await waitFor(async () => (await added()) === result.arrived, {
      what: `counters of ${result.arrived} frames, both ways added`,
    });
    assert.deepEqual((await stats()).ab.dropped, {});
    assert.deepEqual([await a.carrierChanges(), await b.carrierChanges()], carriers);
  });

  it('comes to the fabric for the time of a trace, which notes its pings', async (context) => {
    const { a, client, stats, carriedBy } = await lab(context);
    const places = (['ab', 'ba'] as const).map((direction) => ({ link: 'link', direction, label: direction }));
    await client.traces.start({ id: 'trace', leaseMs: 60_000, marks: [], places });
    assert.equal((await stats()).carrier, undefined, 'when the request is answered');
    await ping(a, addressB, 1);
    const points = ((await client.traces.read('trace')) ?? []).map(({ label, point }) => `${label} ${point}`);
    assert.deepEqual(points.slice(-4), ['ab in', 'ab out', 'ba in', 'ba out']);
    await client.traces.end('trace');
    await carriedBy('kernel');
    await client.traces.start({ id: 'brief', leaseMs: 1, marks: [], places });
    await carriedBy('kernel');
  });

  it('shows real frames to a capture, as segments are cut before it', async (context) => {
    const { a, b, folder, change, stats } = await lab(context);
    const file = `${folder}/bulk.pcap`;
    await change({ captures: [{ path: file, linkType: 1 }] });
    assert.equal((await stats()).carrier, undefined);
    const sink = b.spawn('busybox', 'nc', '-l', '-p', '7000');
    context.after(() => sink.kill());
    const took = (sink.stdout as NonNullable<typeof sink.stdout>).toArray() as Promise<Buffer[]>;
    await waitFor(async () => (await b.run('cat', '/proc/net/tcp', '/proc/net/tcp6')).includes(':1B58 '), {
      what: 'the listener at port 7000',
    });
    await a.run('sh', '-c', `head -c 2000000 /dev/zero | busybox nc -w 5 ${addressB} 7000`);
    assert.equal(Buffer.concat(await took).length, 2_000_000);
    await change();
    const lengths = parsePcap(await readFile(file)).frames.map(({ length }) => length);
    assert.ok(
      lengths.length > 1400 && Math.max(...lengths) <= 1514,
      `${lengths.length} frames, the longest ${Math.max(...lengths)}`,
    );
  });

  it('carries TCP in large pieces past the kernel, and frames as on a cable inside the fabric', async (context) => {
    const { a, b, folder, change, stats } = await lab(context);
    for (const [index, end] of [a, b].entries()) {
      await end.run(
        'sh',
        '-c',
        `echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6; ip addr add fd71::${index + 1}/64 dev eth0 nodad`,
      );
    }
    const file = `${folder}/checksums.pcap`;
    // A corrupted frame is not merged with intact ones: the receiver refuses it, and it is sent again.
    await change({ filters: { corrupt: [0.5] }, captures: [{ path: file, linkType: 1, side: 'before' }] });
    const data = randomBytes(1_500_000);
    await writeFile(`${folder}/data`, data);
    const [counted, before] = [await b.counts(), await stats()];
    for (const [index, address] of [addressB, '[fd71::2]'].entries()) {
      const number = 7001 + index;
      const family = address.startsWith('[') ? 'TCP6' : 'TCP4';
      const sink = b.spawn('socat', '-u', `${family}-LISTEN:${number}`, 'STDOUT');
      context.after(() => sink.kill());
      const took = (sink.stdout as NonNullable<typeof sink.stdout>).toArray() as Promise<Buffer[]>;
      const listens = `:${number.toString(16).toUpperCase()} `;
      await waitFor(async () => (await b.run('cat', '/proc/net/tcp', '/proc/net/tcp6')).includes(listens), { what: 'a listener' });
      await a.run('socat', '-u', `OPEN:${folder}/data`, `${family}:${address}:${number}`);
      assert.ok(Buffer.concat(await took).equals(data), address);
    }
    const [arrived, passed] = [(await b.counts()).received - counted.received, (await stats()).ab.sent - before.ab.sent];
    assert.ok(passed > 2 * 1000 && arrived < passed / 2, `${passed} frames arrived as ${arrived} packets`);
    await change();
    const { frames } = parsePcap(await readFile(file));
    assert.ok(Math.max(...frames.map(({ length }) => length)) <= 1518);
    const checked = frames.map(({ data: frame }) => hasRightChecksum(frame)).filter((right) => right !== undefined);
    assert.ok(checked.length > 2000, String(checked.length));
    assert.equal(checked.includes(false), false);
  });

  it('lets every frame of the link layer pass, in the kernel and in the fabric', async (context) => {
    const { a, b, change, carriedBy } = await lab(context);
    const listener = b.spawn('socat', '-u', '-b', '2000', 'INTERFACE:eth0', 'STDOUT');
    context.after(() => listener.kill());
    let seen = '';
    listener.stdout?.setEncoding('latin1').on('data', (text: string) => {
      seen += text;
    });
    // Frames to stations that a bridge would not forward to: LLDP, LACP, 802.1X; and a frame with two VLAN tags.
    const heads = ['0180c200000e88cc', '0180c20000028809', '0180c2000003888e', '02000000009988a8'];
    const send = async (way: string) => {
      for (const [index, head] of heads.entries()) {
        const frame = Buffer.alloc(60, `${way}-${index}.`);
        frame.write(`${head.slice(0, 12)}020000000007${head.slice(12)}`, 'hex');
        if (head.endsWith('88a8')) frame.write('00648100006588b5', 14, 'hex');
        const sender = a.spawn('socat', '-u', 'STDIN', 'INTERFACE:eth0');
        sender.stdin?.end(frame);
        await once(sender, 'exit');
      }
      await waitFor(() => heads.every((_head, index) => seen.includes(`${way}-${index}.`)), { what: `the frames by the ${way}` });
    };
    await waitFor(async () => (await ping(a, addressB, 1)) && seen.length > 0, { what: 'the listener' });
    await send('kernel');
    await change({ filters: { delay: [1] } });
    await send('fabric');
    await change();
    await carriedBy('kernel');
  });

  it('keeps its frames while the fabric is killed, and its rules are those of the next one', async (context) => {
    const { a, b, client, change, stats, carriedBy } = await lab(context);
    const kill = async () => {
      const restored = new Promise((settle) => client.onRestored(settle));
      process.kill(client.pid, 'SIGKILL');
      await restored;
    };
    const result = await underTraffic(a, b, kill);
    assert.equal(result.arrived, result.left, JSON.stringify(result));
    await carriedBy('kernel');
    // Impaired: the interfaces stay, and the next fabric takes them.
    await change({ filters: { delay: [2] } });
    await kill();
    assert.equal((await stats()).carrier, undefined);
    await ping(a, addressB);
    assert.match(await a.run('ip', 'addr', 'show', 'eth0'), new RegExp(`UP.*${addressA}`, 's'));
    // Deleted while no fabric runs: the rules of the one that was killed go, too.
    await change();
    await carriedBy('kernel');
    process.kill(client.pid, 'SIGKILL');
    await client.remove(['link']);
    const isCut = () =>
      a.run('busybox', 'ping', '-c', '1', '-W', '1', addressB).then(
        () => false,
        () => true,
      );
    await waitFor(isCut, { what: 'the end of the link' });
    assert.deepEqual(await client.stats(), []);
  });

  it('returns to the fabric, with the reason, when another rule takes the frames that the kernel redirects', async (context) => {
    const { a, b, change, stats, carriedBy } = await lab(context);
    await change({ suspend: true });
    const hole = `pbk${randomBytes(4).toString('hex')}`;
    await run('ip', ['tuntap', 'add', 'dev', hole, 'mode', 'tap']);
    context.after(() => run('ip', ['link', 'delete', hole]));
    await run('ip', ['link', 'set', 'dev', hole, 'up']);
    const at = `dev ${b.names.hostEnd} egress pref 1`;
    await run('tc', `filter add ${at} protocol all u32 match u32 0 0 action mirred egress redirect dev ${hole}`.split(' '));
    await change();
    await carriedBy('kernel');
    const fallen = await waitFor(
      async () => {
        await a.run('busybox', 'ping', '-c', '1', '-W', '1', addressB).catch(() => undefined);
        const now = await stats();
        return now.carrier === undefined && now.kernelObstacle;
      },
      { what: 'the fabric' },
    );
    assert.match(fallen, new RegExp(`redirected \\d+ frames to ${b.names.hostEnd}, which sent none`));
    await run('tc', `filter del ${at}`.split(' '));
    await ping(a, addressB);
    await change({ suspend: true });
    assert.equal((await stats()).kernelObstacle, undefined, 'its rules do not allow it');
    await change();
    await waitFor(async () => (await stats()).kernelObstacle, { what: 'the reason, as the ends are the same' });
  });

  it('is not given up for frames of a time without carrier, or for counters that could not be read', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'kernel-paths-'));
    context.after(() => rm(folder, { recursive: true }));
    const made = [await ContainerEnd.make(folder, `${addressA}/24`), await ContainerEnd.make(folder, `${addressB}/24`)] as const;
    for (const end of made) context.after(() => end.remove());
    const [a, b] = made;
    let redirected: number | undefined;
    let readings = 0;
    const readNow = async () => {
      readings += 1;
      return new Map(redirected === undefined ? [] : [[1, { frames: redirected, bytes: 0, lost: 0 }]]);
    };
    const proofs = new PathProofs({ readNow } as unknown as KernelCounters, new InterfacePlace('host'));
    context.after(() => proofs.close());
    const failures: string[] = [];
    context.mock.timers.enable({ apis: ['setTimeout'] });
    /** Waits until the next reading has been taken, or has shown a failure: then the one before has been judged. */
    const next = async (frames: number | undefined) => {
      redirected = frames;
      for (const before = readings; readings === before && failures.length === 0; await turn()) context.mock.timers.tick(240_000);
    };
    proofs.begin({ ends: [a.names.hostEnd, b.names.hostEnd], actions: [1, 2], failed: (reason) => failures.push(reason) });
    await next(5);
    await next(undefined);
    await next(5);
    await b.run('ip', 'link', 'set', 'dev', 'eth0', 'down');
    await b.run('ip', 'link', 'set', 'dev', 'eth0', 'up');
    await next(6);
    await next(7);
    assert.deepEqual(failures, []);
    await next(7);
    assert.match(failures.join(), /redirected 1 frames to .*, which sent none/);
  });

  it('is tried again after the first trial failed, and takes the links that wait; so is a link whose rules failed', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'kernel-paths-'));
    context.after(() => rm(folder, { recursive: true }));
    const made = [await ContainerEnd.make(folder, `${addressA}/24`), await ContainerEnd.make(folder, `${addressB}/24`)] as const;
    for (const end of made) context.after(() => end.remove());
    const { PATH } = process.env;
    // The folder has neither ip nor tc.
    process.env.PATH = folder;
    context.after(() => {
      process.env.PATH = PATH;
    });
    const paths = new KernelPaths(await loadNative(), folder, { retryMs: 20 });
    context.after(() => paths.close());
    const path = new KernelPath(paths);
    const failsBy = async (program: RegExp) => {
      await path.take([made[0].names.hostEnd, made[1].names.hostEnd], () => true);
      assert.equal(path.isTaken, false);
      assert.match(path.obstacle ?? '', program);
      process.env.PATH = PATH;
      await waitFor(() => path.isTaken, { what: 'the path through the kernel' });
      assert.equal(path.obstacle, undefined);
    };
    await failsBy(/ip/);
    // The host's trial has succeeded: what fails now is this link.
    await path.leave();
    paths.tc.close();
    process.env.PATH = folder;
    await failsBy(/tc/);
    await path.end();
  });

  it('counts what is lost while nothing reads a TAP interface', async (context) => {
    const { a, b, client, change, stats } = await lab(context);
    await change({ filters: { bandwidth: [10_000_000] } });
    await ping(a, addressB);
    const before = await a.counts();
    const counted = await stats();
    process.kill(client.pid, 'SIGSTOP');
    const sender = a.spawn(process.execPath, traffic, 'send', addressB, port, '20000');
    try {
      await waitFor(async () => (await a.counts()).sent - before.sent > 3000, { what: 'frames' });
      await finish(sender);
    } finally {
      sender.kill();
      process.kill(client.pid, 'SIGCONT');
    }
    const sent = (await a.counts()).sent - before.sent;
    const { ab } = await waitFor(
      async () => {
        const link = await stats();
        return link.ab.sent - counted.ab.sent + (link.ab.dropped.queue_full ?? 0) === sent && link;
      },
      { what: `all of ${sent} frames, counted` },
    );
    assert.ok((ab.dropped.queue_full ?? 0) > 1000, JSON.stringify(ab));
    await ping(b, addressA);
  });
});
