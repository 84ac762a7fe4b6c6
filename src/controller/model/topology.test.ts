import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { parseTopology } from './read-topology.ts';
import { toNodeEntry } from './topology.ts';
import { topologyText } from './topology-text.ts';

const projectId = 'c6992992-ac72-47dc-833b-54aa334bcd05';
const node = {
  compute_id: 'local',
  name: 'PC1',
  node_id: '0b6fb567-431d-4e8d-88d3-6c390daed734',
  node_type: 'vpcs',
  properties: {},
};
const empty = { computes: [], drawings: [], links: [], nodes: [] };

function fileWith(changes: Record<string, unknown>): string {
  return JSON.stringify({
    name: 'x',
    project_id: projectId,
    revision: 9,
    topology: empty,
    type: 'topology',
    version: '2.2.0',
    ...changes,
  });
}
const read = (changes: Record<string, unknown>) => parseTopology(Buffer.from(fileWith(changes)), 'x.gns3');

describe('project files', () => {
  it('fills in what is missing', async () => {
    const { topology, upgradedFrom } = await read({ topology: { ...empty, nodes: [node] } });
    assert.equal(upgradedFrom, undefined);
    assert.deepEqual([topology.project.auto_close, topology.project.zoom, topology.project.variables], [true, 100, null]);
    assert.deepEqual(
      [topology.nodes[0]?.port_name_format, topology.nodes[0]?.z, topology.nodes[0]?.console_type],
      ['Ethernet{0}', 1, null],
    );
  });

  it('tolerates what existing files have', async () => {
    const { topology } = await read({
      topology: { ...empty, nodes: [{ ...node, appliance_id: projectId, console_type: null }] },
      variables: [{ name: '' }, { name: 'a', value: 'b' }],
    });
    assert.deepEqual([topology.nodes[0]?.template_id, topology.nodes[0]?.console_type], [projectId, 'none']);
    assert.deepEqual(topology.project.variables, [{ name: 'a', value: 'b' }]);
  });

  it('has whole pixels where a layout library wrote fractions, as requests have', async () => {
    const label = { text: 'PC1', x: -3.7, y: 0.2, rotation: 0, style: '' };
    const drawing = { drawing_id: projectId, svg: '<svg/>', x: 1.5, y: -2.2, z: 1 };
    const { topology } = await read({
      scene_width: 1999.9,
      topology: { ...empty, nodes: [{ ...node, x: 10.5, y: -3.2, label }], drawings: [drawing] },
    });
    const [placed] = topology.nodes;
    assert.deepEqual([placed?.x, placed?.y, placed?.label?.x, placed?.label?.y], [11, -3, -4, 0]);
    assert.deepEqual([topology.drawings[0]?.x, topology.drawings[0]?.y, topology.project.scene_width], [2, -2, 2000]);
    const fraction = read({ topology: { ...empty, nodes: [{ ...node, console: 5000.5 }] } });
    await assert.rejects(fraction, (error) => isFault(error, 'project_damaged'));
  });

  it('leaves out links that never were complete', async () => {
    const links = [{ nodes: [] }, { link_id: projectId, nodes: [{ node_id: node.node_id, adapter_number: 0, port_number: 0 }] }];
    assert.deepEqual((await read({ topology: { ...empty, links } })).topology.links, []);
  });

  const damaged = (error: unknown) => isFault(error, 'project_damaged');
  for (const [what, changes] of Object.entries<Record<string, unknown>>({
    'an unknown key': { foo: 1 },
    'an unknown key of a node': { topology: { ...empty, nodes: [{ ...node, foo: 1 }] } },
    'no lists': { topology: { nodes: [] } },
    'an id that is none': { project_id: '../../etc' },
  })) {
    it(`refuses ${what}`, () => assert.rejects(read(changes), damaged));
  }

  it('refuses what is no JSON, newer files, and revisions that are none', async () => {
    await assert.rejects(parseTopology(Buffer.from('{'), 'x'), damaged);
    await assert.rejects(read({ revision: 11 }), (error) => isFault(error, 'project_newer'));
    for (const revision of [-1, 1.5, '9']) await assert.rejects(read({ revision }), damaged);
  });

  it('reads those of GNS3 3, without keys that are not known, and writes them', async () => {
    const router = { ...node, node_type: 'docker', aux: 5003, aux_type: 'telnet', tags: ['a'], console_type: 'ssh' };
    const properties = { image: 'frr', adapters: 2, compute_id: 'local', of_gns3_4: true };
    const links = [{ link_id: projectId, link_style: { bezier_curviness: 3 }, nodes: [], wireshark: false }];
    const topology = { ...empty, nodes: [{ ...router, label: { text: 'R', style: null }, properties }], links };
    const changes = { revision: 10, version: '3.1.0', created_by: 'admin', zoom: null, topology };
    const { topology: found, upgradedFrom } = await read(changes);
    assert.equal(upgradedFrom, 10);
    const [made] = found.nodes;
    assert.deepEqual(made?.properties, { image: 'frr', adapters: 2, aux: 5003 });
    assert.equal(made?.console_type, 'telnet');
    assert.ok(!JSON.stringify(found).includes('tags') && found.project.zoom === 100);
    const text = String(Buffer.concat(await topologyText(found, { revision: 10, version: '3.0.6' })));
    const written = JSON.parse(text) as { revision: number; version: string; topology: { nodes: Record<string, unknown>[] } };
    assert.deepEqual([written.revision, written.version], [10, '3.0.6']);
    const [out] = written.topology.nodes;
    assert.deepEqual([out?.aux, out?.aux_type, out?.properties], [5003, 'telnet', { adapters: 2, image: 'frr' }]);
    assert.deepEqual((await parseTopology(Buffer.from(text), 'x.gns3')).topology, found);
    await assert.rejects(read({ ...changes, topology: { ...empty, nodes: [{ ...router, node_id: 5 }] } }), damaged);
    await assert.rejects(read({ ...changes, topology: 'none' }), damaged);
  });

  it('upgrades from revision 8: grid, console type, behaviour at closing', async () => {
    const machines = [
      { ...node, node_type: 'qemu', console_type: null, properties: { acpi_shutdown: false, save_vm_state: true, ram: 1 } },
      { ...node, node_type: 'qemu', properties: { acpi_shutdown: true } },
    ];
    const { topology, upgradedFrom } = await read({ revision: 8, grid_size: 10, topology: { ...empty, nodes: machines } });
    assert.equal(upgradedFrom, 8);
    assert.equal(topology.project.drawing_grid_size, 10);
    assert.deepEqual(topology.nodes[0]?.properties, { on_close: 'save_vm_state', ram: 1 });
    assert.deepEqual(topology.nodes[1]?.properties, { on_close: 'power_off' });
    assert.equal(topology.nodes[0]?.console_type, 'none');
  });

  it('upgrades from revision 5: serial consoles, obsolete properties', async () => {
    const nodes = [
      { ...node, console_type: 'serial', properties: { startup_script: 'x', startup_script_path: 'y' } },
      { ...node, node_type: 'vmware', properties: { enable_remote_console: true, ram: 2 } },
    ];
    const { topology } = await read({ revision: 5, topology: { ...empty, nodes } });
    assert.deepEqual([topology.nodes[0]?.console_type, topology.nodes[0]?.properties], ['telnet', {}]);
    assert.deepEqual(topology.nodes[1]?.properties, { on_close: 'power_off', ram: 2 });
  });

  it('is written with sorted keys and four spaces, and read back the same', async () => {
    const { topology } = await read({
      topology: { ...empty, nodes: [{ ...node, console_type: 'telnet' }] },
      supplier: { url: 'u', logo: 'l' },
    });
    const many = { ...topology, nodes: Array.from({ length: 2000 }, (_, x) => toNodeEntry({ ...topology.nodes[0], x } as never)) };
    const text = Buffer.concat(await topologyText(many, '2.2.60')).toString('utf8');
    assert.equal(text, `${JSON.stringify(sorted(JSON.parse(text)), null, 4)}\n`);
    assert.deepEqual((await parseTopology(Buffer.from(text), 'x')).topology, many);
  });

  it('keeps from other programs the filters that they do not know', async () => {
    const ends = [0, 1].map((port_number) => ({ node_id: node.node_id, adapter_number: 0, port_number }));
    const filters = { bandwidth: [64], delay: [5, 1], delay_ab: [9], packet_loss: [0.1], seed: [3] };
    const link = { link_id: crypto.randomUUID(), nodes: ends, filters, link_style: { color: '#000000' }, suspend: false };
    const { topology } = await read({ topology: { ...empty, links: [link] } });
    const text = Buffer.concat(await topologyText(topology, '2.2.60')).toString('utf8');
    const [written] = JSON.parse(text).topology.links;
    assert.deepEqual(written.filters, { delay: [5, 1], packet_loss: [0.1] });
    const back = (await parseTopology(Buffer.from(text), 'x')).topology;
    assert.deepEqual(back, topology);
    assert.deepEqual([back.links[0]?.filters, back.links[0]?.link_style], [filters, link.link_style]);
  });
});

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
