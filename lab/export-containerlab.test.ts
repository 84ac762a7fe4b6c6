/** Exports as topologies of containerlab: names are unique on the host, ports keep their names, and all that is lost is reported. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Link } from '../src/schema/link.ts';
import type { Node } from '../src/schema/node.ts';
import { containerKeys, exportContainerlab, linkKeys } from './export-containerlab.ts';
import { filesOf } from './file/lab-files.ts';
import { loadLab } from './file/load-lab.ts';
import { readYaml, type TreeMap } from './file/read-yaml.ts';
import { mapOf } from './import/foreign-lab.ts';
import { importLab } from './import/import-lab.ts';
import type { LabCatalog, LabProjectState } from './state/lab-state.ts';

const catalog: LabCatalog = {
  kinds: new Map(),
  schemas: new Map([['docker', { adapters: { default: 1 }, start_command: { default: '' } }]]),
  templates: [],
  computes: [],
};
const node = (name: string, node_type: string, properties: object = {}, fields: object = {}) =>
  ({
    node_id: name,
    name,
    node_type,
    properties,
    custom_adapters: [],
    ports: [],
    height: 59,
    label: { text: name, x: null, y: -25 },
    ...fields,
  }) as unknown as Node;
const link = (id: string, ends: readonly (readonly [string, number, number])[], fields: object = {}) =>
  ({
    link_id: id,
    filters: {},
    suspend: false,
    link_style: {},
    nodes: ends.map(([node_id, adapter_number, port_number]) => ({ node_id, adapter_number, port_number })),
    ...fields,
  }) as unknown as Link;
const state = (nodes: Node[], links: Link[], more: Partial<LabProjectState> = {}) =>
  ({
    project: { name: 'a lab with a long name' },
    nodes,
    links,
    drawings: [],
    mirrors: new Map(),
    schedules: new Map(),
    files: new Map(),
    ...more,
  }) as unknown as LabProjectState;

describe('an export to containerlab', () => {
  it('comes back with the same nodes, images, environments, addresses and ports', async () => {
    const nodes = [
      node('A', 'docker', { image: 'alpine:3', environment: 'X=1\nY=2', start_command: 'sleep 9', adapters: 2 }),
      node('B', 'docker', { image: 'frr:10' }, { custom_adapters: [{ adapter_number: 0, mac_address: '02:00:00:00:00:09' }] }),
      node('S', 'ethernet_switch'),
    ];
    const links = [
      link('1', [
        ['A', 0, 0],
        ['B', 0, 0],
      ]),
      link('2', [
        ['A', 1, 0],
        ['S', 0, 3],
      ]),
    ];
    const { text, report } = exportContainerlab(state(nodes, links), catalog);
    assert.deepEqual(
      report.flatMap(({ missing }) => missing),
      [],
    );
    const lab = await loadLab({ text: importLab(text, 'x.clab.yml').text, file: 'lab.yaml', files: filesOf({}) });
    assert.deepEqual(
      lab.nodes.map(({ name, kind, short, properties, fields }) => [name, kind, short.image, properties, fields.custom_adapters]),
      [
        ['A', 'docker', 'alpine:3', { environment: 'X=1\nY=2', start_command: 'sleep 9' }, undefined],
        ['B', 'docker', 'frr:10', {}, [{ adapter_number: 0, mac_address: '02:00:00:00:00:09' }]],
        ['S', 'ethernet_switch', undefined, {}, undefined],
      ],
    );
    assert.deepEqual(
      lab.links.map(({ ends }) => ends.map((end) => [end.node, end.port])),
      [
        [
          ['A', 'eth0'],
          ['B', 'eth0'],
        ],
        [
          ['A', 'eth1'],
          ['S', undefined],
        ],
      ],
    );
  });

  it('escapes dollars, so that containerlab reads them as texts and not as its variables', async () => {
    const odd = ['$HOME', `\${HOME}`, `\${A:=b}`, '$$', '$', 'a$', '$6$salt$Vj69F.Q', `$$\${node}`, '$_x', '${', '$(id)', '5$ 6$'];
    const environment = odd.map((value, index) => `V${index}=${value}`).join('\n');
    const nodes = [node('A', 'docker', { image: 'x:$TAG', environment, start_command: `echo $HOME $$ \${X:-y}`, adapters: 1 })];
    const { text } = exportContainerlab(state(nodes, []), catalog);
    assert.ok(text.includes('$$HOME') && text.includes(`$\${A:=b}`) && text.includes('x:$$TAG'), text);
    const imported = importLab(text, 'x.clab.yml');
    const lab = await loadLab({ text: imported.text, file: 'lab.yaml', files: filesOf({}) });
    assert.deepEqual(
      [lab.nodes[0]?.short.image, lab.nodes[0]?.properties],
      ['x:$TAG', { environment, start_command: `echo $HOME $$ \${X:-y}` }],
    );
    assert.deepEqual(
      imported.report.filter(({ node: name }) => name === '(lab)'),
      [],
    );
  });

  it('names interfaces of bridges uniquely within 15 characters', () => {
    const switches = Array.from({ length: 12 }, (_, index) => node(`access-switch-of-floor-${index}`, 'ethernet_switch'));
    const pcs = Array.from({ length: 48 }, (_, index) => node(`pc${index}`, 'docker', { image: 'x' }));
    const links = pcs.map((pc, index) =>
      link(`${index}`, [
        [pc.name, 0, 0],
        [switches[index % 12]?.name ?? '', 0, Math.floor(index / 12)],
      ]),
    );
    const { text } = exportContainerlab(state([...switches, ...pcs], links), catalog);
    const topology = mapOf(mapOf(readYaml(text, 'x').value).topology);
    const bridges = Object.entries(topology.nodes as TreeMap).flatMap(([name, one]) => (mapOf(one).kind === 'bridge' ? name : []));
    assert.ok(bridges.length === 12 && bridges.every((name) => name.length <= 15));
    const ports = (topology.links as { endpoints: string[] }[]).map(({ endpoints }) => endpoints[1]?.split(':')[1] ?? '');
    assert.equal(new Set(ports).size, 48);
    assert.ok(
      ports.every((name) => name.length > 0 && name.length <= 15),
      ports.join(),
    );
  });

  it('reports VLANs, volumes, files, filters, suspensions, mirrors, schedules, drawings, and every property that is not standard', () => {
    const nodes = [
      node('A', 'docker', { image: 'x', extra_volumes: ['/etc/frr'], console_type: 'vnc', extra_hosts: 'a:1.2.3.4', later: 'new' }),
      node('S', 'ethernet_switch', { ports_mapping: [{ name: 'Ethernet0', port_number: 0, type: 'access', vlan: 10 }] }),
      node('R', 'dynamips', { image: 'c3725' }),
    ];
    const links = [
      link(
        '1',
        [
          ['A', 0, 0],
          ['S', 0, 0],
        ],
        { filters: { delay: [5] }, suspend: true },
      ),
      link('2', [
        ['A', 1, 0],
        ['R', 0, 0],
      ]),
    ];
    const { report } = exportContainerlab(
      state(nodes, links, {
        mirrors: new Map([['1', { node_id: 'A', adapter_number: 2, port_number: 0 }]]),
        schedules: new Map([['1', { started_at: 0, steps: [], traces: [] } as never]]),
        drawings: [{} as never],
        files: new Map([['A', new Map([['etc/network/interfaces', 'auto eth0\n']])]]),
      }),
      catalog,
    );
    const reported = Object.fromEntries(report.map(({ node: name, missing }) => [name, missing.join('\n')]));
    for (const word of ['extra_volumes', 'console_type', 'extra_hosts', 'later', 'the file etc/network/interfaces'])
      assert.match(reported.A ?? '', new RegExp(word));
    assert.match(reported.S ?? '', /VLANs/);
    assert.match(reported.R ?? '', /nodes of type dynamips/);
    for (const word of ['filters', 'suspend', 'mirror', 'schedule'])
      assert.match(reported['link A – S'] ?? '', new RegExp(`^${word}`, 'm'));
    assert.match(reported['link A – R'] ?? '', /without a counterpart/);
    assert.match(reported['(lab)'] ?? '', /1 drawing/);
  });
});

/** Numbers from a seed, of a linear congruential generator. */
function randomOf(seed: number): (most: number) => number {
  let state = seed + 1;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * (most + 1));
  };
}

/** Fields with some of the keys that a table calls missing, and with keys that it does not know; the words are to be reported. */
function othersOf(upTo: (most: number) => number, table: object, id: string): { fields: object; words: string[] } {
  const lost = Object.entries(table).flatMap(([key, { fate }]) => (fate === 'missing' && upTo(2) === 0 ? [key] : []));
  const words = upTo(1) === 0 ? [...lost, `later-${id}x`] : lost;
  return { fields: Object.fromEntries(words.map((key) => [key, 'new'])), words };
}

it('100 projects made at random lose nothing in silence', async () => {
  for (let seed = 0; seed < 100; seed++) {
    const upTo = randomOf(seed);
    const words: string[] = [];
    const nodes = Array.from({ length: 2 + upTo(4) }, (_, index) => {
      const [name, image, environment] = [`node${index}x`, `image${index}x:1`, `KEY=value${index}x\nNOVALUE${index}x`];
      const { fields, words: lost } = othersOf(upTo, containerKeys, `p${index}`);
      words.push(name, image, `value${index}x`, `NOVALUE${index}x`, ...lost);
      const more = upTo(1) === 0 ? { [`field-${index}x`]: 'new' } : {};
      words.push(...Object.keys(more));
      return node(name, 'docker', { image, environment, adapters: 4, ...fields }, more);
    });
    const links = nodes.slice(1).map(({ name }, index) => {
      const { fields, words: lost } = othersOf(upTo, { filters: linkKeys.filters, suspend: linkKeys.suspend }, `l${index}`);
      words.push(...lost);
      const more = {
        ...fields,
        ...('filters' in fields && { filters: { delay: [5] } }),
        ...('suspend' in fields && { suspend: true }),
      };
      return link(
        `${index}`,
        [
          [nodes[index]?.name ?? '', 1, 0],
          [name, 0, 0],
        ],
        more,
      );
    });
    const { text, report } = exportContainerlab(state(nodes, links), catalog);
    const reported = report.flatMap(({ missing, changed }) => [...missing, ...changed]).join('\n');
    const lost = words.filter((word) => !text.includes(word) && !reported.includes(word));
    assert.deepEqual(lost, [], `seed ${seed}\n${text}\n${reported}`);
    const lab = await loadLab({ text: importLab(text, 'x.clab.yml').text, file: 'lab.yaml', files: filesOf({}) });
    assert.deepEqual(
      [lab.nodes.map(({ name, short }) => [name, short.image]), lab.links.length],
      [nodes.map(({ name, properties }) => [name, properties.image]), links.length],
    );
  }
});
