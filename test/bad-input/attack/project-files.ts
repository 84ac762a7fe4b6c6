/** Hostile project files from a seed: a good one whose fields name files of the host, carry commands, contradict each other, or are no text. */
import { randomUUID } from 'node:crypto';
import type { Chance } from '../../durability/random.ts';
import type { Bait } from './bait.ts';
import { attackOptions } from './qemu-options.ts';

type Item = Record<string, unknown>;

/** Ids of the VPCS node and the machine that every file begins with: archives bring files for them. */
export const pcId = 'aaaaaaaa-0000-4000-8000-000000000001';
export const machineId = 'aaaaaaaa-0000-4000-8000-000000000002';

/** The content of `project.gns3`, a few KiB to 1 MiB. */
export function attackProjectFile(chance: Chance, bait: Bait): Buffer {
  const project = goodProject(chance);
  for (let count = chance.between(0, 3); count > 0; count--) (chance.pick(changes) ?? spoilAnything)(project, chance, bait);
  const bytes = Buffer.from(JSON.stringify(project));
  return chance.next() < 0.15 ? damagedText(bytes, chance) : bytes;
}

function goodProject(chance: Chance): Item {
  const common = { compute_id: 'local', console_type: 'telnet', x: 0, y: 0, z: 1, symbol: ':/symbols/computer.svg' };
  const end = (node_id: string) => ({ node_id, adapter_number: 0, port_number: 0, label: { text: 'e0', x: 0, y: 0 } });
  const options = '-nodefaults -machine accel=tcg,graphics=off';
  const properties = { ram: 16, adapters: 1, boot_priority: 'n', qemu_path: 'qemu-system-x86_64', options };
  return {
    name: `attack ${chance.between(0, 2 ** 31)}`,
    project_id: randomUUID(),
    revision: 9,
    type: 'topology',
    version: '2.2.44',
    auto_start: false,
    topology: {
      computes: [],
      drawings: [{ drawing_id: randomUUID(), x: 1, y: 2, svg: '<svg><text>hello</text></svg>' }],
      links: [{ link_id: randomUUID(), nodes: [end(pcId), end(machineId)], filters: {} }],
      nodes: [
        { ...common, node_id: pcId, node_type: 'vpcs', name: 'pc', properties: {} },
        { ...common, node_id: machineId, node_type: 'qemu', name: 'machine', properties },
      ],
    },
  };
}

type Change = (project: Item, chance: Chance, bait: Bait) => void;
/** A value that an earlier change replaced stays as it is: changing it again has no effect. */
const itemOf = (value: unknown): Item => (typeof value === 'object' && value !== null ? (value as Item) : {});
const listOf = (project: Item, name: string): Item[] => {
  const list = itemOf(project.topology)[name];
  return Array.isArray(list) ? list : [];
};
const propertiesOf = (project: Item, type: string) =>
  itemOf(listOf(project, 'nodes').find((node) => itemOf(node).node_type === type)?.properties);

/** Words that mean something to a shell, a file system, a URL, a page. */
export function hostileText(chance: Chance, { secret, written, program }: Bait): string {
  const texts = [
    secret,
    `../../../../../../../../../../../..${secret}`,
    `file://${secret}`,
    `/proc/self/root${secret}`,
    `; ${program}`,
    `$(${program})`,
    `\`${program}\``,
    `| ${program}`,
    `! ${program}`,
    `x\n! ${program}\n`,
    `-${program}`,
    `--output=${written}`,
    `telnet -e ${program}`,
    '..',
    '.',
    '/',
    '',
    '\0',
    'a\0b',
    '\u202e',
    '\ud800',
    '\r\nSet-Cookie: x=y',
    '<script>alert(1)</script>',
    '%s%n{0}',
    '__proto__',
    'constructor',
    'toString',
    'x'.repeat(chance.pick([300, 5_000, 100_000]) ?? 300),
    'é🦀'.repeat(100),
  ];
  return chance.pick(texts) ?? secret;
}

/** Any value where another one is expected. */
export function hostileValue(chance: Chance, bait: Bait): unknown {
  if (chance.next() < 0.6) return hostileText(chance, bait);
  return chance.pick([
    null,
    true,
    -1,
    0,
    1.5,
    22,
    65_536,
    2 ** 31,
    2 ** 53,
    1e308,
    [],
    {},
    [[[]]],
    nested(90),
    JSON.parse('{"__proto__": {"isAdmin": true}}'),
    { constructor: { prototype: { x: 1 } } },
    { length: 2 ** 31 },
    Array.from({ length: 2_000 }, () => 1),
    Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index])),
  ]);
}

const imageProperties = ['hda_disk_image', 'hdb_disk_image', 'cdrom_image', 'bios_image', 'kernel_image', 'initrd', 'qemu_path'];
const words = ['kernel_command_line', 'mac_address', 'adapter_type', 'boot_priority', 'platform', 'process_priority', 'usage'];

const changes: readonly Change[] = [
  (project, chance, bait) => {
    propertiesOf(project, 'qemu').options = attackOptions(chance, bait);
  },
  (project, chance, bait) => {
    propertiesOf(project, 'qemu')[chance.pick([...imageProperties, ...words]) ?? ''] = hostileText(chance, bait);
  },
  (project, chance, bait) => {
    propertiesOf(project, 'qemu')[chance.pick(['ram', 'cpus', 'adapters', 'cpu_throttling', 'maxcpus']) ?? ''] = hostileValue(
      chance,
      bait,
    );
  },
  (project, chance, bait) => {
    propertiesOf(project, 'vpcs').startup_script = `set pcname x\n! ${bait.program}\n${hostileText(chance, bait)}\n`;
  },
  (project, chance, bait) => {
    const { secret, program } = bait;
    const docker = {
      image: hostileText(chance, bait),
      extra_volumes: [`/../../..${secret}`],
      start_command: program,
      environment: `LD_PRELOAD=${program}`,
    };
    const type = chance.pick(['docker', 'cloud', 'nat', 'iou', 'dynamips', 'virtualbox', 'vmware', 'traceng', 'ethernet_switch']);
    const properties = { ...docker, path: program, ports_mapping: [{ name: 'x', type: 'tap', interface: secret, port_number: 0 }] };
    listOf(project, 'nodes').push({ compute_id: 'local', name: 'other', node_type: type, node_id: randomUUID(), properties });
  },
  (project, chance, bait) => {
    const node = itemOf(chance.pick(listOf(project, 'nodes')));
    const keys = ['name', 'node_id', 'node_type', 'compute_id', 'symbol', 'console', 'console_type', 'label', 'template_id'];
    node[chance.pick([...keys, 'custom_adapters', 'port_name_format', 'first_port_name', 'properties']) ?? ''] = hostileValue(
      chance,
      bait,
    );
  },
  (project, chance) => {
    const nodes = listOf(project, 'nodes');
    nodes.push(...Array.from({ length: chance.pick([1, 2, 50]) ?? 1 }, () => ({ ...nodes[0] })));
  },
  (project, chance, bait) => {
    const link = itemOf(chance.pick(listOf(project, 'links')));
    link[chance.pick(['link_id', 'nodes', 'filters', 'link_style', 'capture_file_name']) ?? ''] = hostileValue(chance, bait);
  },
  (project, chance, bait) => {
    const filter = chance.pick(['bpf', 'delay', 'latency', 'packet_loss', 'corrupt', 'frequency_drop', '__proto__']) ?? 'bpf';
    const value = chance.pick([
      ['('.repeat(500)],
      [`ip ${'or ip '.repeat(400)}or ip`],
      [`-w ${bait.written}`],
      [1e9, -1],
      ['x', {}],
    ]);
    itemOf(listOf(project, 'links')[0]).filters = { [filter]: value };
  },
  (project, chance, { secret }) => {
    const svgs = [
      secret,
      `../../..${secret}`,
      `<!DOCTYPE svg [<!ENTITY x SYSTEM "file://${secret}">]><svg>&x;</svg>`,
      `<svg onload="alert(1)"><image href="file://${secret}"/></svg>`,
      `<svg>${'<g>'.repeat(20_000)}`,
      'x'.repeat(500_000),
    ];
    listOf(project, 'drawings').push({ drawing_id: randomUUID(), svg: chance.pick(svgs) });
  },
  (project, chance, bait) => {
    listOf(project, 'computes').push({
      compute_id: chance.pick(['local', 'x', hostileText(chance, bait)]),
      host: chance.pick(['127.0.0.1', '0.0.0.0', `x@${hostileText(chance, bait)}`]),
      name: hostileText(chance, bait),
      port: chance.pick([1, 22, 0, 65_536]),
      protocol: chance.pick(['http', 'https', 'file']),
    });
  },
  (project, chance, bait) => {
    const keys = ['name', 'project_id', 'revision', 'type', 'version', 'topology', 'variables', 'supplier', 'path', 'filename'];
    project[chance.pick([...keys, 'zoom', 'scene_width', 'auto_open', 'auto_start', '__proto__']) ?? ''] = hostileValue(
      chance,
      bait,
    );
  },
  (project, chance) => {
    project.revision = chance.pick([0, 1, 3, 4, 5, 6, 7, 8, 10, 2 ** 40]);
  },
  spoilAnything,
];

/** Any one value of the whole file. */
function spoilAnything(project: Item, chance: Chance, bait: Bait): void {
  let at: Item = project;
  for (;;) {
    const keys = Object.keys(at);
    const key = chance.pick(keys);
    if (key === undefined) return;
    const value = at[key];
    if (typeof value !== 'object' || value === null || chance.next() < 0.2) {
      at[key] = hostileValue(chance, bait);
      return;
    }
    at = value as Item;
  }
}

function nested(depth: number): unknown {
  return JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
}

function damagedText(bytes: Buffer, chance: Chance): Buffer {
  const ways = [
    () => bytes.subarray(0, chance.between(0, bytes.length)),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
    () => Buffer.from(bytes.toString('utf8'), 'utf16le'),
    () => Buffer.concat([bytes, bytes]),
    () => Buffer.from('['.repeat(chance.pick([1_000, 100_000, 1_000_000]) ?? 1_000)),
    () => Buffer.from(`{"a":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`),
    () => Buffer.from('null'),
    () => Buffer.alloc(0),
    () => Buffer.alloc(100_000),
    () => {
      const copy = Buffer.from(bytes);
      for (let count = 5; count > 0; count--) copy[chance.between(0, copy.length - 1)] = chance.between(0, 255);
      return copy;
    },
  ];
  return (chance.pick(ways) ?? (() => bytes))();
}
