/** Defaults of a lab file that a kind of node does not know. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindFacts } from '../../src/schema/kind.ts';
import type { NodeType } from '../../src/schema/node.ts';
import { filesOf } from '../file/lab-files.ts';
import { loadLab } from '../file/load-lab.ts';
import type { LabCatalog } from '../state/lab-state.ts';
import { planLab } from './plan-lab.ts';

const facts = (node_type: NodeType, lab: object) =>
  ({
    node_type,
    title: node_type,
    can: {},
    image_properties: [],
    lab: { fixed: [], generated: [], ...lab },
  }) as unknown as KindFacts;
const catalog: LabCatalog = {
  kinds: new Map([
    ['docker', facts('docker', { image: 'image' })],
    ['ethernet_switch', facts('ethernet_switch', { port_list: 'vlan' })],
    ['vpcs', facts('vpcs', { startup_file: 'startup.vpc' })],
  ]),
  schemas: new Map<NodeType, Record<string, object>>([
    ['docker', { image: { type: 'string' }, adapters: { type: 'integer' }, usage: { type: 'string' } }],
    ['ethernet_switch', { ports_mapping: {} }],
    ['vpcs', {}],
  ]),
  templates: [],
  computes: [{ compute_id: 'local', name: 'here' }],
};

async function planned(text: string) {
  const lab = await loadLab({ text, file: 'lab.yaml', files: filesOf({}) });
  const { nodes } = planLab(lab, undefined, catalog);
  return Object.fromEntries(nodes.map(({ name, create, files }) => [name, { ...create, files: [...files.keys()] }]));
}

test('a default counts for the kinds that know it, and a field of the node itself is refused where the kind does not', async () => {
  const defaults =
    'defaults: {kind: docker, image: frr, memory: 1G, adapters: 3, ports: 4, config: ip 10.0.0.1, properties: {usage: x}}';
  const nodes = await planned(`${defaults}\nnodes:\n  R1:\n  SW: {kind: ethernet_switch}\n  PC: {kind: vpcs}\n`);
  assert.deepEqual(nodes.R1?.properties, { image: 'frr', adapters: 3, usage: 'x' });
  assert.deepEqual(Object.keys(nodes.SW?.properties ?? {}), ['ports_mapping']);
  assert.deepEqual([nodes.PC?.properties ?? {}, nodes.PC?.files], [{}, ['startup.vpc']]);
  await assert.rejects(planned('nodes:\n  SW: {kind: ethernet_switch, image: frr}\n'), /SW|image/);
});
