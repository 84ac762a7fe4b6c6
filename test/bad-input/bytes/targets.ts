/** Parsers of bytes that come from clients, guests and files, each with a few inputs to begin with and the errors with which it refuses. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { countPackets } from '../../../lab/checks/run/capture-packets.ts';
import { ReplayError, trainOf } from '../../../lab/checks/run/read-replay.ts';
import { LabError } from '../../../lab/file/lab-error.ts';
import { filesOf } from '../../../lab/file/lab-files.ts';
import { loadLab } from '../../../lab/file/load-lab.ts';
import { foreignPrograms, importLab } from '../../../lab/import/import-lab.ts';
import { isFault } from '../../../src/api/faults.ts';
import { TelnetDecoder, towardsSizedClient } from '../../../src/compute/console/telnet-codec.ts';
import { TelnetInput } from '../../../src/compute/console/web-requests.ts';
import { parseTopology } from '../../../src/controller/model/read-topology.ts';
import { extractHere } from '../../../src/controller/zip/extract-files.ts';
import { readElf } from '../../../src/emulators/iou/elf.ts';
import { ask, BlockDevices } from '../../../src/emulators/qemu/answers.ts';
import { Monitor } from '../../../src/emulators/qemu/monitor.ts';
import { translateBpf } from '../../../src/fabric/filters/bpf.ts';
import { FramedSocket } from '../../../src/fabric/ports/framed-socket.ts';
import type { BpfInstruction } from '../../../src/fabric/protocol.ts';
import { DiskImageError } from '../../../src/lib/disk-image/image.ts';
import { readImage } from '../../../src/lib/disk-image/read.ts';
import { referenceOf } from '../../../src/lib/disk-image/references.ts';
import type { Chance } from '../../durability/random.ts';
import { generators, LabMaker } from '../../support/generated-labs.ts';
import { attackArchive } from '../attack/archives.ts';
import { attackImage } from '../attack/images.ts';
import { attackProjectFile } from '../attack/project-files.ts';
import { frameTargets } from './frame-targets.ts';

export interface Target {
  readonly name: string;
  seeds(chance: Chance): Promise<readonly Uint8Array[]>;
  take(bytes: Buffer): Promise<void>;
  /** Whether the error is one with which bad input is refused. */
  refuses(error: unknown): boolean;
}

const root = resolve(import.meta.dirname, '../../..');
const bait = { secret: '/nowhere/secret', written: '/nowhere/written', program: '/nowhere/program' };
const seedsOf = (chance: Chance, make: (chance: Chance, from: typeof bait) => Buffer, count = 20) =>
  Array.from({ length: count }, () => make(chance, bait));
const isDiskImageError = (error: unknown) => error instanceof DiskImageError;
const never = () => false;

/** Work in a folder that is removed when the process ends. */
const folder = mkdtempSync(join(tmpdir(), 'pb-bytes-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const diskImages: Target = {
  name: 'headers of disk images',
  seeds: async (chance) => seedsOf(chance, attackImage, 40),
  take: async (bytes) => {
    let read = 0;
    const { backing } = await readImage(async (position, length) => {
      read += length;
      return bytes.subarray(position, position + length);
    });
    assert.ok(read <= 2 * 1024 ** 2, `${read} bytes were read`);
    if (backing) referenceOf('/images/disk', backing);
  },
  refuses: isDiskImageError,
};

const elf: Target = {
  name: 'ELF',
  seeds: async () => [await readFile('/bin/true')],
  take: async (bytes) => {
    const path = join(folder, 'image');
    writeFileSync(path, bytes);
    const facts = await readElf(path);
    if (typeof facts === 'string') assert.doesNotMatch(facts, /cannot be read/);
    else assert.ok(facts.needed.every((name) => name.length <= 256) && (facts.interpreter?.length ?? 0) <= 4096);
  },
  refuses: never,
};

const projectFiles: Target = {
  name: '.gns3 files',
  seeds: async (chance) => seedsOf(chance, attackProjectFile, 40),
  take: async (bytes) => void (await parseTopology(bytes, 'lab.gns3')),
  refuses: isFault,
};

const archives: Target = {
  name: 'project archives',
  seeds: async (chance) => seedsOf(chance, attackArchive),
  take: async (bytes) => {
    const [archive, into] = [join(folder, 'archive'), join(folder, 'below', 'project')];
    writeFileSync(archive, bytes);
    await mkdir(into, { recursive: true });
    try {
      await extractHere({ archive, folder: into, floorBytes: 0 }, () => undefined);
    } finally {
      const beside = await readdir(join(folder, 'below'));
      await rm(join(folder, 'below'), { recursive: true, force: true });
      assert.deepEqual(beside, ['project']);
    }
  },
  refuses: (error) => isFault(error) && error.code !== 'storage_failed',
};

const labs: Target = {
  name: 'lab files',
  seeds: async () => {
    const names = (await readdir(join(root, 'labs'))).filter((name) => name.endsWith('.yaml'));
    return Promise.all(names.map((name) => readFile(join(root, 'labs', name))));
  },
  take: async (bytes) => void (await loadLab({ text: bytes.toString(), file: 'lab.yaml', files: filesOf({ 'a.cfg': '!' }) })),
  refuses: (error) => error instanceof LabError,
};

const captures: Target = {
  name: 'pcap',
  seeds: async () => [await readFile(join(root, 'web/capture/traffic.pcap'))],
  take: async (bytes) => {
    countPackets(bytes);
    trainOf(bytes, 10_000);
    trainOf(bytes);
  },
  refuses: (error) => error instanceof ReplayError,
};

/** Sizes of pieces in which a stream may arrive. */
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 3) % 61 || 1) yield bytes.subarray(at, at + size);
}

const telnet: Target = {
  name: 'telnet',
  seeds: async () =>
    [
      'fffd03fffb03fffd1ffffb1ffffa1f00500018fff0',
      '0d000d0a61ffff62fff6',
      'fffa1fffff00ff18fff0',
      '474554202f20485454502f312e310d0a',
    ].map((hex) => Buffer.from(hex, 'hex')),
  take: async (bytes) => {
    const decode = (pieces: Iterable<Buffer>) => {
      const decoder = new TelnetDecoder(towardsSizedClient);
      const [data, reply]: [Buffer[], Buffer[]] = [[], []];
      let asked = 0;
      for (const piece of pieces) {
        const decoded = decoder.push(piece);
        data.push(Buffer.from(decoded.data));
        reply.push(Buffer.from(decoded.reply));
        asked += decoded.areYouThere;
      }
      return [Buffer.concat(data).toString('hex'), Buffer.concat(reply).toString('hex'), asked];
    };
    const whole = decode([Buffer.from(bytes)]);
    assert.deepEqual(decode(piecesOf(Buffer.from(bytes))), whole);
    assert.ok(String(whole[1]).length <= 2 * bytes.length + 6, 'answers are longer than questions');
    const input = new TelnetInput();
    for (const piece of piecesOf(Buffer.from(bytes))) if (input.push(piece) === undefined) break;
  },
  refuses: never,
};

const frames: Target = {
  name: 'framed streams',
  seeds: async () => [Buffer.from(`0000003c${'ab'.repeat(60)}0000000e${'cd'.repeat(14)}00000000fffffff0fffffff1`, 'hex')],
  take: async (bytes) => {
    const collect = (pieces: Iterable<Buffer>) => {
      const found: string[] = [];
      let isOpen = true;
      const destroy = () => {
        isOpen = false;
      };
      const socket = { pause: () => undefined, resume: () => undefined, destroy } as unknown as Socket;
      const owner = {
        received: (buffer: Buffer, start: number, end: number) => {
          found.push(buffer.toString('hex', start, end));
          return true;
        },
        drained: () => undefined,
      };
      const framed = new FramedSocket(owner, (mark) => found.push(`${mark.toString(16)}`));
      framed.use(socket);
      for (const piece of pieces) {
        if (!isOpen) break;
        piece.copy(framed.area);
        framed.took(socket, piece.length);
      }
      return found.join('');
    };
    assert.equal(collect(piecesOf(bytes)), collect(bytes.length === 0 ? [] : slices(bytes, 100_000)));
  },
  refuses: never,
};

function slices(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, number) => bytes.subarray(number * size, (number + 1) * size));
}

/** Instructions as they stand in memory: code, jump if true, jump if false, value. */
const bpf: Target = {
  name: 'BPF programs',
  seeds: async () =>
    ['2800000c00000000150000010000080006000000ffffffff0600000000000000', '3000000000000017b100000000000e0006000000ffffffff'].map(
      (hex) => Buffer.from(hex, 'hex'),
    ),
  take: async (bytes) => {
    const program = slices(bytes, 8)
      .filter(({ length }) => length === 8)
      .slice(0, 4096)
      .map((one): BpfInstruction => [one.readUInt16LE(0) & 0xff, one.readUInt8(2), one.readUInt8(3), one.readUInt32LE(4)]);
    const matches = translateBpf(program);
    for (const frame of [Buffer.alloc(0), bytes, Buffer.alloc(1514, 0xff)])
      assert.equal(typeof matches(frame, 0, frame.length), 'number');
  },
  refuses: isFault,
};

const foreignLabs: Target = {
  name: 'labs of other programs',
  seeds: async () => {
    const folder = join(root, 'test/support/netlab');
    const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))));
    const generated = Object.values(generators).flatMap((make) => [1, 2, 3].map((seed) => Buffer.from(make(new LabMaker(seed)))));
    return [...files, ...generated];
  },
  take: async (bytes) => {
    for (const program of foreignPrograms) {
      try {
        importLab(bytes.toString(), 'lab', program);
      } catch (error) {
        if (!(error instanceof LabError)) throw error;
      }
    }
  },
  refuses: never,
};

/** Bytes in place of an answer of QEMU's monitor. */
let answer: Buffer = Buffer.alloc(0);
let monitors: Promise<string> | undefined;

function startMonitors(): Promise<string> {
  const path = join(folder, 'qmp');
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('{"QMP": {}}\n');
    socket.on('data', (text) => {
      const { execute, id } = JSON.parse(text.toString()) as { execute: string; id: number };
      if (execute === 'qmp_capabilities') socket.write(`${JSON.stringify({ return: {}, id })}\n`);
      else socket.end(answer);
    });
  });
  server.unref();
  return new Promise((done) => server.listen(path, () => done(path)));
}

const monitorAnswers: Target = {
  name: 'answers of the monitor',
  seeds: async () =>
    [
      '{"return": [{"device": "d", "inserted": {"drv": "qcow2", "image": {"virtual-size": 1}, "dirty-bitmaps": [{"count": 1}]}}], "id": 2}\n',
      '{"event": "STOP", "data": {}}\n{"event": "BLOCK_IO_ERROR", "data": {"action": "stop"}}\n{"error": {"desc": "no"}, "id": 2}\n',
    ].map((text) => Buffer.from(text)),
  take: async (bytes) => {
    monitors ??= startMonitors();
    answer = bytes;
    const listener = { status: () => undefined, shutdown: () => undefined };
    const monitor = await Monitor.connect(await monitors, listener, { limitMs: 10_000, ended: new Promise(() => undefined) });
    try {
      const devices = await ask(monitor, 'query-block', BlockDevices);
      assert.ok(devices.length <= 1000);
    } finally {
      monitor.close();
    }
  },
  refuses: (error) => isFault(error) && error.code === 'qemu_failed' && error.message.length < 4000,
};

export const targets: readonly Target[] = [
  ...[diskImages, elf, projectFiles, archives, labs, foreignLabs, captures, telnet, frames, bpf, monitorAnswers],
  ...frameTargets,
];
