/** Frames of guests, and captures of them: parsers of the fabric and of the page. They never refuse: what they do not know they carry. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { countFrames, frameLength, headerBytes, maxFrameBytes } from '../../../src/fabric/frames.ts';
import { completeChecksum, maxCutBytes, SegmentCutter } from '../../../src/fabric/ports/segment-cutter.ts';
import { SegmentRun } from '../../../src/fabric/ports/segment-run.ts';
import { countProtocols } from '../../../web/capture/analysis/protocol-statistics.ts';
import { contentOf } from '../../../web/capture/analysis/same-frame.ts';
import { followStream } from '../../../web/capture/analysis/tcp-stream.ts';
import { decode, ethernetLink } from '../../../web/capture/decode/decode.ts';
import { type Packet, PcapParser } from '../../../web/capture/pcap.ts';
import { PcLan } from '../../support/pc-lan.ts';
import { addServer } from '../../support/pc-lan-server.ts';
import { access, hub, type Plug, SwitchBed, trunk, tunnel } from '../../support/switch-plug.ts';
import { tcpFrame } from '../../support/tcp-frames.ts';
import type { Target } from './targets.ts';

const never = () => false;
const capture = await readFile(join(resolve(import.meta.dirname, '../../..'), 'web/capture/traffic.pcap'));

function packetsOf(bytes: Uint8Array): Packet[] {
  const parser = new PcapParser();
  parser.push(bytes);
  const packets: Packet[] = [];
  for (let packet = parser.next(); packet && packets.length < 500; packet = parser.next()) packets.push(packet);
  return packets;
}

const recorded = packetsOf(capture).map(({ bytes }) => Buffer.from(bytes));
/** Segments with right checksums, cut from a large one. */
const segments = (() => {
  const large = tcpFrame({ from: 1, sequence: 100, ack: true, data: 'x'.repeat(8000) });
  const buffer = Buffer.alloc(maxCutBytes);
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  const end = new SegmentCutter().cut(large, { tcp: 34, payloadBytes: 1000 }, { buffer, view, at: 0 });
  const frames: Buffer[] = [];
  for (let at = 0; at < end; at += headerBytes + frameLength(buffer, at))
    frames.push(Buffer.from(buffer.subarray(at + headerBytes, at + headerBytes + frameLength(buffer, at))));
  return frames;
})();

/** Frames with the length of each in front, as the fabric has them. */
const runOf = (frames: readonly Uint8Array[]) =>
  Buffer.concat(
    frames.flatMap((frame) => {
      const header = Buffer.alloc(headerBytes);
      header.writeUInt32BE(frame.length);
      return [header, frame];
    }),
  );

/** Pieces of an input: each begins with two bytes of length. */
function* piecesOf(bytes: Buffer, most: number): Generator<Buffer> {
  for (let at = 0; at + 2 <= bytes.length && most > 0; most--) {
    const length = bytes.readUInt16BE(at);
    yield bytes.subarray(at + 2, at + 2 + length);
    at += 2 + length;
  }
}

function inPieces(frames: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    frames.flatMap((frame) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(frame.length);
      return [length, frame];
    }),
  );
}

/** An offload header as the guest's kernel fills it, and the packet: the guest chooses all of it. */
const offloads: Target = {
  name: 'offload headers',
  seeds: async () =>
    [...segments, ...recorded.slice(0, 10)].map((frame) => {
      const notes = Buffer.alloc(8);
      for (const [index, value] of [34, 100, 14, 16].entries()) notes.writeUInt16LE(value, 2 * index);
      return Buffer.concat([notes, frame]);
    }),
  take: async (bytes) => {
    if (bytes.length < 8) return;
    const [tcp, payloadBytes, start, offset] = [0, 2, 4, 6].map((at) => bytes.readUInt16LE(at)) as [number, number, number, number];
    const packet = Buffer.from(bytes.subarray(8, 8 + maxFrameBytes));
    const buffer = Buffer.alloc(maxCutBytes);
    const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    const cutter = new SegmentCutter();
    const end = cutter.cut(packet, { tcp, payloadBytes }, { buffer, view, at: 0 });
    assert.ok(end <= maxCutBytes);
    if (end > 0) assert.equal(countFrames(buffer, 0, end), cutter.frames);
    const before = Buffer.from(packet);
    const own = new DataView(packet.buffer, packet.byteOffset, packet.length);
    completeChecksum(own, start + offset, { from: start, end: packet.length });
    const differences = [...packet].filter((byte, index) => byte !== before[index]).length;
    assert.ok(differences <= 2, `${differences} bytes of a packet changed`);
  },
  refuses: never,
};

const merging: Target = {
  name: 'segments to merge',
  seeds: async () => [inPieces(segments), inPieces(recorded.slice(0, 20))],
  take: async (bytes) => {
    const frames = [...piecesOf(bytes, 64)].filter(({ length }) => length > 0 && length <= maxFrameBytes);
    const run = runOf(frames);
    const view = new DataView(run.buffer, run.byteOffset, run.length);
    const found = new SegmentRun();
    for (let at = 0; at < run.length; at = found.next) {
      found.find(view, run, { start: at, end: run.length, most: 64 });
      assert.ok(found.frames >= 1 && found.next > at && found.next <= run.length);
      assert.equal(countFrames(run, at, found.next), found.frames);
      if (found.frames > 1) assert.ok(found.totalPayloadBytes <= 65_535 && found.headersBytes <= frameLength(run, at));
    }
  },
  refuses: never,
};

/** PCs that have exchanged frames of every kind. They are the same for many inputs: what one does to them the next one meets. */
async function lanOf(): Promise<{ lan: PcLan; frames: readonly Buffer[] }> {
  const lan = new PcLan();
  addServer(lan);
  const [one, two] = [lan.add(), lan.add()];
  await lan.type(two, 'ip 10.0.0.2/24');
  for (const line of ['ip dhcp', 'ip auto', 'ping 10.0.0.2 -c 1 -l 3000', 'ping 10.0.0.2 -c 1 -2', 'ping 10.0.0.2 -3 -c 1'])
    await lan.type(one, line);
  return { lan, frames: [...lan.frames] };
}
let lans: ReturnType<typeof lanOf> | undefined;
const ofPcs = () => {
  lans ??= lanOf();
  return lans;
};

const pcs: Target = {
  name: 'frames at a PC',
  seeds: async () => {
    const { frames } = await ofPcs();
    return Array.from({ length: 40 }, (_, index) => inPieces(frames.slice(index * 2, index * 2 + 4)));
  },
  take: async (bytes) => {
    const { lan } = await ofPcs();
    for (const frame of piecesOf(bytes, 16)) for (const { pc } of lan.pcs) pc.receive(frame);
    await lan.pass(5);
    lan.frames.length = 0;
    for (const { pc, ended } of lan.pcs) {
      assert.equal(ended, undefined, JSON.stringify(ended));
      assert.ok(JSON.stringify(pc.state()).length < 1_000_000);
    }
  },
  refuses: never,
};

const switches: Target = {
  name: 'frames at a switch',
  seeds: async () => [inPieces(recorded.slice(0, 8)), inPieces(segments)],
  take: async (bytes) => {
    const bed = new SwitchBed();
    const settings = [access(1), trunk(1), tunnel(2), access(2)];
    const plugs: Plug[] = settings.map((each, index) => bed.plug(index, each));
    const hubs = [0, 1].map((number) => bed.plug(number, hub, 'h'));
    const frames = [...piecesOf(bytes, 16)].filter(({ length }) => length > 0);
    const most = Math.max(0, ...frames.map(({ length }) => length)) + 2 * 4;
    for (const [index, frame] of frames.entries()) {
      plugs[index % plugs.length]?.send(frame);
      hubs[index % 2]?.send(frame);
    }
    for (const plug of [...plugs, ...hubs])
      for (const hex of await plug.took()) assert.ok(hex.length / 2 <= most, 'a frame grew by more than two tags');
  },
  refuses: never,
};

const decoders: Target = {
  name: 'packets on the page',
  seeds: async () => [capture],
  take: async (bytes) => {
    const packets = packetsOf(bytes);
    for (const packet of packets) {
      const { layers } = decode(packet.bytes);
      for (const { at, length } of layers) assert.ok(at >= 0 && length >= 0);
      contentOf(packet.bytes, packet.length);
    }
    await countProtocols(packets, ethernetLink);
    if (packets[0]) await followStream(packets, packets[0]);
  },
  refuses: (error) => error instanceof Error && /capture|pcap file/.test(error.message) && error.message.length < 200,
};

export const frameTargets: readonly Target[] = [offloads, merging, pcs, switches, decoders];
