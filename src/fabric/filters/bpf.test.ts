import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { BpfCompiler, compileBpf, tcpdumpCommand } from '../bpf-compile.ts';
import type { BpfInstruction } from '../protocol.ts';
import { translateBpf } from './bpf.ts';

/** Somewhere inside a larger buffer, so that offsets count from the frame's start. */
function run(program: BpfInstruction[], frame: Uint8Array): number {
  const buffer = Buffer.concat([Buffer.alloc(7, 0xee), frame, Buffer.alloc(9, 0xee)]);
  return translateBpf(program)(buffer, 7, 7 + frame.length);
}

function ipFrame(options: {
  protocol: number;
  ports?: [number, number];
  flags?: number;
  headerWords?: number;
  vlan?: number;
}): Buffer {
  const { protocol, ports = [0, 0], flags = 0, headerWords = 5, vlan } = options;
  const tag = vlan === undefined ? Buffer.alloc(0) : Buffer.from([0x81, 0x00, vlan >> 8, vlan & 255]);
  const ip = Buffer.alloc(headerWords * 4);
  ip[0] = 0x40 | headerWords;
  ip[9] = protocol;
  ip.set([10, 0, 0, 1, 10, 0, 0, 2], 12);
  const transport = Buffer.alloc(20);
  transport.writeUInt16BE(ports[0], 0);
  transport.writeUInt16BE(ports[1], 2);
  transport[13] = flags;
  return Buffer.concat([Buffer.from('020000000001020000000002', 'hex'), tag, Buffer.from([8, 0]), ip, transport]);
}

const frames = {
  icmp: ipFrame({ protocol: 1 }),
  http: ipFrame({ protocol: 6, ports: [40000, 80], flags: 2 }),
  options: ipFrame({ protocol: 6, ports: [80, 40000], headerWords: 8, flags: 16 }),
  dns: ipFrame({ protocol: 17, ports: [53, 53], vlan: 10 }),
  arp: Buffer.concat([Buffer.from('ffffffffffff0200000000010806', 'hex'), Buffer.alloc(28)]),
  stub: Buffer.from('020000', 'hex'),
};

/** The frames that match, by the expression's meaning as pcap-filter(7) has it. */
const expressions: [string, (keyof typeof frames)[]][] = [
  ['icmp', ['icmp']],
  ['tcp port 80', ['http', 'options']],
  ['tcp dst port 80', ['http']],
  ['tcp[13] & 2 != 0', ['http']],
  ['tcp[tcpflags] = tcp-ack', ['options']],
  ['arp', ['arp']],
  ['vlan 10 and udp port 53', ['dns']],
  ['not ip', ['dns', 'arp']],
  ['len > 60', ['options']],
  ['less 40', ['stub']],
  ['ether broadcast', ['arp']],
  ['ether src 02:00:00:00:00:02', ['icmp', 'http', 'options', 'dns']],
  ['net 10.0.0.0/8 and not port 80', ['icmp']],
  ['ip[0] & 0xf > 5', ['options']],
  ['ip[2:2] + 3 * ip[9] - 1 = 17', ['http', 'options']],
  ['ip[9] << 3 = 48 and ip[9] / 2 = 3 and ip[9] % 4 = 2', ['http', 'options']],
  ['ip[9] * len >= 300', ['http', 'options']],
  ['(ip[9] | 8) ^ 1 = 8', ['icmp']],
  ['portrange 50-79', []],
];

describe('BPF', () => {
  for (const [expression, matching] of expressions) {
    it(`runs ${expression}`, async () => {
      const program = await compileBpf(expression);
      const matched = Object.entries(frames).filter(([, frame]) => run(program, frame) !== 0);
      assert.deepEqual(
        matched.map(([name]) => name),
        matching,
      );
    });
  }

  it('computes with 32 bits, unsigned', () => {
    const frame = Buffer.from('fffffffe00000003', 'hex');
    const answer = (...middle: BpfInstruction[]) => run([[0x20, 0, 0, 0], ...middle, [0x16, 0, 0, 0]], frame);
    assert.equal(answer([0x04, 0, 0, 5]), 3);
    assert.equal(answer([0x14, 0, 0, 0xffffffff]), 0xffffffff);
    assert.equal(answer([0x24, 0, 0, 3]), 0xfffffffa);
    assert.equal(answer([0x34, 0, 0, 2]), 0x7fffffff);
    assert.equal(answer([0x94, 0, 0, 7]), 0xfffffffe % 7);
    assert.equal(answer([0x64, 0, 0, 4]), 0xffffffe0);
    assert.equal(answer([0x64, 0, 0, 32]), 0);
    assert.equal(answer([0x74, 0, 0, 31]), 1);
    assert.equal(answer([0x84, 0, 0, 0]), 2);
    assert.equal(answer([0xa4, 0, 0, 0xffffffff]), 1);
    assert.equal(answer([0x25, 0, 1, 0x7fffffff], [0x06, 0, 0, 9]), 9);
    assert.equal(answer([0x02, 0, 0, 15], [0x00, 0, 0, 4], [0x07, 0, 0, 0], [0x40, 0, 0, 0], [0x61, 0, 0, 15], [0x1c, 0, 0, 0]), 5);
  });

  it('takes a load beyond the frame and a division by zero as no match', () => {
    assert.equal(
      run(
        [
          [0x20, 0, 0, 5],
          [0x06, 0, 0, 1],
        ],
        Buffer.alloc(8),
      ),
      0,
    );
    assert.equal(
      run(
        [
          [0x30, 0, 0, 0xffffffff],
          [0x06, 0, 0, 1],
        ],
        Buffer.alloc(8),
      ),
      0,
    );
    assert.equal(
      run(
        [
          [0x01, 0, 0, 0xfffffffe],
          [0x48, 0, 0, 2],
          [0x06, 0, 0, 1],
        ],
        Buffer.alloc(8),
      ),
      0,
    );
    assert.equal(
      run(
        [
          [0xb1, 0, 0, 8],
          [0x06, 0, 0, 1],
        ],
        Buffer.alloc(8),
      ),
      0,
    );
    assert.equal(
      run(
        [
          [0x3c, 0, 0, 0],
          [0x06, 0, 0, 1],
        ],
        Buffer.alloc(8),
      ),
      0,
    );
  });

  it('refuses what is no program', () => {
    const bad: unknown[] = [
      [],
      'text',
      [[6, 0, 0]],
      [[6, 0, 0, '1); process.exit(']],
      [
        [5, 0, 0, 9],
        [6, 0, 0, 0],
      ],
      [
        [21, 0, 255, 1],
        [6, 0, 0, 0],
      ],
      [[0, 0, 0, 1]],
      [
        [0x60, 0, 0, 16],
        [6, 0, 0, 0],
      ],
      [
        [0xfff7, 0, 0, 0],
        [6, 0, 0, 0],
      ],
    ];
    for (const program of bad) {
      assert.throws(
        () => translateBpf(program as BpfInstruction[]),
        (error) => isFault(error, 'filter_invalid'),
        JSON.stringify(program),
      );
    }
  });
});

describe('compiling BPF', () => {
  it('tells tcpdump’s words, and takes nothing for an option', async () => {
    for (const expression of ['bogus stuff', '-w /nonexistent/file', '--version', 'host a\0b', '1/0 > 2']) {
      await assert.rejects(compileBpf(expression), (error: Error) => {
        assert.ok(isFault(error, 'filter_invalid'), String(error));
        assert.match(error.message, /^Filter bpf: .+ Known filters: .*packet_loss/);
        return true;
      });
    }
    await assert.rejects(compileBpf('bogus stuff'), /syntax error/);
  });

  it('remembers programs, but not failures', async () => {
    const compiler = new BpfCompiler();
    assert.equal(await compiler.compile('udp'), await compiler.compile('udp'));
    await assert.rejects(compiler.compile('bogus stuff'));
    await assert.rejects(compiler.compile('bogus stuff'));
  });

  it('confines tcpdump, and says when it is not found', async () => {
    let asked: readonly string[] = [];
    const compiler = new BpfCompiler(async (program, args) => {
      asked = [program, ...args];
      return { program: 'prlimit', args: ['--core=0', '--', program, ...args] };
    });
    assert.deepEqual(await compiler.compile('udp'), await compileBpf('udp'));
    assert.deepEqual(asked, ['tcpdump', '-y', 'EN10MB', '-ddd', '--', 'udp']);
    const nowhere = new BpfCompiler(async (_, args) => ({
      program: 'prlimit',
      args: ['--core=0', '--', '/nowhere/tcpdump', ...args],
    }));
    await assert.rejects(nowhere.compile('udp'), (error) => isFault(error, 'tool_missing'));
  });

  it('confines tcpdump that filters captures of clients in the same way', async () => {
    const { program, args } = await tcpdumpCommand();
    const words = [program, ...args].join(' ');
    assert.match(words, /prlimit --as=536870912 --cpu=5 --fsize=0 .*-- tcpdump$/);
    if (process.geteuid?.() === 0) assert.match(words, /setpriv --reuid=61101 /);
  });

  it('says that tcpdump is missing', async (context) => {
    if (existsSync('/usr/sbin/tcpdump') || existsSync('/sbin/tcpdump')) return context.skip('found there whatever PATH says');
    const path = process.env.PATH;
    process.env.PATH = '/nonexistent';
    const compiled = compileBpf('udp');
    process.env.PATH = path;
    await assert.rejects(compiled, (error) => isFault(error, 'tool_missing'));
  });
});
