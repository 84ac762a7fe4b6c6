/** Project files made at random from the schema of each revision: nothing of them is lost in silence, read, written and read again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Chance, makeChance } from '../../../test/durability/random.ts';
import { isFault } from '../../api/faults.ts';
import { DrawingInput } from '../../schema/drawing.ts';
import type { KeyTable } from '../../schema/foreign-map.ts';
import { LinkInput } from '../../schema/link.ts';
import { NodeCreate, nodeTypes, readOnlyNodeKeys } from '../../schema/node.ts';
import * as old from '../../schema/project-1x.ts';
import { parseTopology } from './read-topology.ts';
import { storedProjectFields } from './stored.ts';
import { topologyText } from './topology-text.ts';
import { upgradeFrom1x } from './upgrades/from-1x.ts';

const filesOfEach = 100;
/** A refused file costs ten times as much as one that is read. */
const refusedFiles = 20;

/** Makes values from a seed (mulberry32), and notes the words that must be found again. */
class FileMaker {
  readonly #chance: Chance;
  #next = 0;
  readonly words: string[] = [];
  constructor(seed: number) {
    this.#chance = makeChance(seed);
  }
  upTo(most: number): number {
    return this.#chance.between(0, most);
  }
  chance(ofTen: number): boolean {
    return this.upTo(9) < ofTen;
  }
  word(kind: string): string {
    this.#next += 1;
    const word = `${kind}${this.#next}x`;
    this.words.push(word);
    return word;
  }
  id(): string {
    const hex = Array.from({ length: 32 }, () => this.upTo(15).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
  /** A part of the fields. */
  some(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(fields).filter(() => this.chance(6)));
  }
  /** Some keys that a table of 1.x calls missing or needless, and unknown ones: those that are not needless are to be reported. */
  others(table: KeyTable): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    for (const [key, { fate }] of Object.entries(table)) {
      if ((fate !== 'missing' && fate !== 'needless') || !this.chance(3)) continue;
      fields[key] = 'old';
      if (fate === 'missing') this.words.push(key);
    }
    return this.chance(5) ? { ...fields, [this.word('later-')]: 'new' } : fields;
  }
}

const label = (make: FileMaker) => ({
  text: make.word('label'),
  rotation: make.upTo(90),
  style: make.word('style'),
  x: null,
  y: -make.upTo(50),
});

/** Fields of a node beside its id, type and compute. */
const nodeFields = (make: FileMaker): Record<string, unknown> => ({
  console: 5000 + make.upTo(99),
  console_auto_start: make.chance(5),
  console_type: 'vnc',
  custom_adapters: [{ adapter_number: make.upTo(7), mac_address: '02:00:00:00:00:09', port_name: 'uplink' }],
  first_port_name: make.word('first'),
  label: label(make),
  locked: make.chance(5),
  port_name_format: make.word('Gi{0}-'),
  port_segment_size: make.upTo(16),
  properties: { image: make.word('image'), later: { deep: [make.word('deep')] }, ram: make.upTo(4096) },
  symbol: make.word('symbol'),
  template_id: make.id(),
  x: -make.upTo(900),
  y: make.upTo(900),
  z: make.upTo(9),
  width: make.upTo(99),
  height: make.upTo(99),
});
/** Keys that the server sets: what a file says of them is of another server. */
const ofServer = readOnlyNodeKeys.filter((key) => key !== 'width' && key !== 'height');

const linkFields = (make: FileMaker): Record<string, unknown> => ({
  filters: { delay: [make.upTo(99), 1], packet_loss: [make.upTo(50)] },
  link_style: { color: `#0000${10 + make.upTo(80)}` },
  suspend: make.chance(5),
});
const linkFacts = ['capture_compute_id', 'capture_file_name', 'capture_file_path', 'capturing', 'link_type', 'project_id'];

const drawingFields = (make: FileMaker): Record<string, unknown> => ({
  svg: `<svg width="9" height="9"><text>${make.word('note')}</text></svg>`,
  locked: make.chance(5),
  rotation: make.upTo(359),
  x: make.upTo(99),
  y: -make.upTo(99),
  z: make.upTo(5),
});

const projectFields = (make: FileMaker): Record<string, unknown> => ({
  auto_close: make.chance(5),
  auto_open: make.chance(5),
  auto_start: make.chance(5),
  drawing_grid_size: make.upTo(99),
  grid_size: make.upTo(99),
  scene_height: 1000 + make.upTo(99),
  scene_width: 1000 + make.upTo(99),
  show_grid: make.chance(5),
  show_interface_labels: make.chance(5),
  show_layers: make.chance(5),
  snap_to_grid: make.chance(5),
  supplier: { url: make.word('url'), logo: make.word('logo') },
  variables: [{ name: make.word('VARIABLE'), value: make.word('value') }],
  zoom: 10 + make.upTo(90),
});
/** Settings of Patchbay: in the file they are variables. */
const ownSettings = ['checkpoint_bytes', 'checkpoint_minutes', 'on_close', 'replicate_link_state'];

function fileOf(make: FileMaker) {
  const nodes = Array.from({ length: 2 + make.upTo(3) }, () => ({
    ...make.some(nodeFields(make)),
    console_type: 'telnet',
    compute_id: make.chance(7) ? 'local' : make.id(),
    name: make.word('node'),
    node_id: make.id(),
    node_type: nodeTypes[make.upTo(nodeTypes.length - 1)],
  }));
  const end = (index: number) => ({
    node_id: nodes[index]?.node_id,
    adapter_number: make.upTo(3),
    port_number: make.upTo(3),
    ...(make.chance(5) && { label: label(make) }),
  });
  const links = nodes
    .slice(1)
    .map((_, index) => ({ ...make.some(linkFields(make)), link_id: make.id(), nodes: [end(index), end(index + 1)] }));
  const drawings = Array.from({ length: make.upTo(3) }, () => ({ ...make.some(drawingFields(make)), drawing_id: make.id() }));
  const computes = [
    { compute_id: make.id(), host: make.word('host'), name: make.word('compute'), port: make.upTo(9999), protocol: 'http' },
  ];
  return {
    ...make.some(projectFields(make)),
    ...{ name: make.word('project'), project_id: make.id(), revision: 9, type: 'topology', version: '2.2.54' },
    topology: { nodes, links, drawings, computes },
  };
}

/** Whether each value of `part` stands at its place in `whole`. */
function holds(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.length === whole.length && part.every((one, at) => holds(whole[at], one));
  if (typeof part !== 'object' || part === null) return whole === part;
  return Object.entries(part).every(([key, one]) => holds((whole as Record<string, unknown> | undefined)?.[key], one));
}

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('project files of GNS3 2.2', () => {
  it('have no key that these tests do not make', () => {
    const make = new FileMaker(1);
    const made = (fields: object, more: readonly string[]) => [...Object.keys(fields), ...more].toSorted();
    const known = (schema: { properties: object }) => Object.keys(schema.properties).toSorted();
    assert.deepEqual(made(nodeFields(make), [...ofServer, 'compute_id', 'name', 'node_id', 'node_type']), known(NodeCreate));
    assert.deepEqual(made(linkFields(make), [...linkFacts, 'link_id', 'nodes']), known(LinkInput));
    assert.deepEqual(made(drawingFields(make), ['drawing_id', 'project_id']), known(DrawingInput));
    const ofProject = made(projectFields(make), [...ownSettings, 'name', 'project_id']);
    assert.deepEqual(ofProject, known({ properties: storedProjectFields }));
  });

  it(`${filesOfEach} of them are written with every value that they had, and read again as the same`, async () => {
    for (let seed = 1; seed <= filesOfEach; seed += 1) {
      const file = fileOf(new FileMaker(seed));
      const { topology } = await parseTopology(bytesOf(file), 'x.gns3');
      const written = Buffer.concat(await topologyText(topology, file.version));
      assert.ok(
        holds(JSON.parse(written.toString('utf8')), file),
        `seed ${seed}\n${JSON.stringify(file)}\n${written.toString('utf8')}`,
      );
      assert.deepEqual((await parseTopology(written, 'x.gns3')).topology, topology, `seed ${seed}`);
    }
  });

  it(`${refusedFiles} with a key of a later version are refused, and the key is named`, async () => {
    for (let seed = 1; seed <= refusedFiles; seed += 1) {
      const make = new FileMaker(seed);
      const file = fileOf(make);
      const { nodes, links, drawings, computes } = file.topology;
      const places: object[] = [
        file,
        file.topology,
        ...nodes,
        ...links,
        ...drawings,
        ...computes,
        ...links.flatMap((one) => one.nodes),
      ];
      Object.assign(places[make.upTo(places.length - 1)] ?? file, { later_key: 1 });
      await assert.rejects(
        parseTopology(bytesOf(file), 'x.gns3'),
        (error) => isFault(error, 'project_damaged') && error.message.includes('later_key'),
        `seed ${seed}`,
      );
    }
  });
});

const types1x = [
  'VPCSDevice',
  'QemuVM',
  'DockerVM',
  'EthernetSwitch',
  'EthernetHub',
  'IOUDevice',
  'C3725',
  'C7200',
  'VMwareVM',
  'Cloud',
];

function file1x(make: FileMaker): Record<string, unknown> {
  const nodes = Array.from({ length: 2 + make.upTo(3) }, (_, index) => {
    const type = types1x[make.upTo(types1x.length - 1)] ?? 'QemuVM';
    const isCloud = type === 'Cloud';
    const property = make.word('property');
    return {
      ...{ id: index, type, server_id: make.upTo(1), vm_id: make.id(), x: make.upTo(900) + 0.5, y: 2, z: 1 },
      label: {
        text: make.word('node'),
        x: 1,
        y: -25,
        font: `${make.word('Font')},9,-1,5,75,0,0,0,0,0`,
        ...make.others(old.labelKeys),
      },
      ports: [0, 1].map((at) => ({
        ...{ id: 10 * index + at, adapter_number: 0, port_number: at + 1, type: 'access', vlan: 1 },
        name: isCloud ? `nio_tap:${make.word('tap')}` : `port${at}`,
        ...make.others(old.portKeys),
      })),
      properties: { name: 'unused', console: 2001, [property]: make.word('value'), use_ubridge: true },
      symbol: make.word('symbol'),
      ...make.others(old.nodeKeys),
    };
  });
  const links = nodes.slice(1).map(({ id }) => ({
    ...{ source_node_id: id - 1, source_port_id: 10 * (id - 1), destination_node_id: id, destination_port_id: 10 * id + 1 },
    ...make.others(old.linkKeys),
  }));
  const shape = () => ({ x: 1, y: 2, width: 9, height: 8, ...make.others(old.drawingKeys) });
  return {
    ...make.others(old.fileKeys),
    ...{ name: make.word('project'), project_id: make.id(), revision: 4, type: 'topology', version: '1.5.4', auto_start: false },
    topology: {
      servers: [
        { id: 0, local: true, vm: false, host: '127.0.0.1', port: 8000 },
        { id: 1, local: false, vm: false, host: make.word('host'), port: 8000, ...make.others(old.serverKeys) },
      ],
      nodes,
      links,
      notes: [{ x: 1, y: 2, text: make.word('note'), ...make.others(old.drawingKeys) }],
      ellipses: make.chance(5) ? [shape()] : [],
      rectangles: make.chance(5) ? [shape()] : [],
      ...make.others(old.topologyKeys),
    },
  };
}

describe('project files of GNS3 1.x', () => {
  it(`${filesOfEach} of them have each value in the project or in the report of what was lost`, async () => {
    let lostParts = 0;
    for (let seed = 1; seed <= filesOfEach; seed += 1) {
      const make = new FileMaker(seed);
      const file = file1x(make);
      const { raw, lost } = upgradeFrom1x(file);
      const { topology, upgradedFrom } = await parseTopology(bytesOf(file), 'x.gns3');
      assert.equal(upgradedFrom, 4);
      const found = `${JSON.stringify(topology)}\n${lost.join('\n')}`;
      assert.deepEqual(
        make.words.filter((word) => !found.includes(word)),
        [],
        `seed ${seed}\n${JSON.stringify(file)}\n${JSON.stringify(raw)}\n${lost.join('\n')}`,
      );
      const { nodes, links } = file.topology as { nodes: unknown[]; links: unknown[] };
      assert.deepEqual([topology.nodes.length, topology.links.length], [nodes.length, links.length], `seed ${seed}`);
      lostParts += lost.length;
    }
    assert.ok(lostParts > filesOfEach, `${lostParts}`);
  });

  it('names links and ports that are dropped', () => {
    const { lost } = upgradeFrom1x({
      topology: {
        nodes: [{ id: 1, type: 'Cloud', label: { text: 'out' }, ports: [{ id: 1, name: 'nio_nat:nat0' }] }],
        links: [{ source_node_id: 1, source_port_id: 1, destination_node_id: 2, destination_port_id: 5 }],
      },
    });
    assert.deepEqual(lost, ['links[0]: a node or port of it does not exist', 'out: the port nio_nat:nat0: add a NAT node']);
  });
});
