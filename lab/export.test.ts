/** Exports of projects made at random: the lab file plans no change of its project, and names each key that it does not have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindFacts } from '../src/schema/kind.ts';
import type { NodeType } from '../src/schema/node.ts';
import { exportLab } from './export.ts';
import { filesOf } from './file/lab-files.ts';
import { loadLab } from './file/load-lab.ts';
import { linesOf } from './plan/lab-plan.ts';
import { planLab } from './plan/plan-lab.ts';
import type { LabCatalog, LabProjectState } from './state/lab-state.ts';

const labs = 100;
const facts = (node_type: NodeType, lab: object) =>
  ({
    ...{ node_type, symbol: ':/symbols/computer.svg', console_type: 'telnet', console_types: ['telnet', 'none'] },
    ...{ port_name_format: 'eth{0}', port_segment_size: 0, images: true, image_properties: [] },
    lab: { fixed: [], generated: ['mac'], ...lab },
  }) as unknown as KindFacts;
const catalog: LabCatalog = {
  kinds: new Map<NodeType, KindFacts>([
    ['qemu', facts('qemu', { image: 'disk', memory: 'ram', cpus: 'cpus' })],
    ['vpcs', facts('vpcs', { startup_file: 'startup.vpc' })],
  ]),
  schemas: new Map<NodeType, Record<string, object>>([
    [
      'qemu',
      { disk: {}, ram: { default: 256 }, cpus: { default: 1 }, adapters: { default: 1 }, options: { default: '' }, mac: {} },
    ],
    ['vpcs', {}],
  ]),
  templates: [],
  computes: [{ compute_id: 'local', name: 'here' }],
};

/** Numbers from a seed, of a linear congruential generator. */
function randomOf(seed: number): (most: number) => number {
  let state = seed + 1;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * (most + 1));
  };
}

interface Made {
  readonly state: LabProjectState;
  /** Keys that no lab file has. */
  readonly unknown: readonly string[];
}

function projectOf(seed: number): Made {
  const upTo = randomOf(seed);
  const unknown: string[] = [];
  const later = (where: object, name: string) => {
    if (upTo(2) !== 0) return where;
    unknown.push(name);
    return { ...where, [name]: 'new' };
  };
  const nodes = Array.from({ length: 2 + upTo(5) }, (_, index) => {
    const isMachine = upTo(1) === 0;
    const adapters = isMachine ? 8 : 1;
    const properties = isMachine
      ? {
          disk: `d\${x}${upTo(9)}.img`,
          ram: 64 * (1 + upTo(9)),
          cpus: 1 + upTo(3),
          adapters,
          options: ['', '-a #: "b"', `\${`, `$\${x`, `a\${x}\${`, `$$\${x} \${ }`][upTo(5)],
          mac: 'x',
        }
      : {};
    const ports = Array.from({ length: adapters }, (_, adapter_number) => ({
      adapter_number,
      port_number: 0,
      name: `eth${adapter_number}`,
    }));
    const node = {
      ...{
        node_id: `id${index}`,
        name: [`N${index}`, `no${index}`, `e${index}`, `${index}`][upTo(3)],
        compute_id: 'local',
        status: 'stopped',
      },
      ...{
        node_type: isMachine ? 'qemu' : 'vpcs',
        properties: later(properties, `property-${index}x`),
        ports,
        custom_adapters: [],
      },
      ...{
        symbol: ':/symbols/computer.svg',
        console_type: ['telnet', 'none'][upTo(1)],
        console_auto_start: upTo(1) === 0,
        locked: upTo(1) === 0,
      },
      ...{ first_port_name: null, port_name_format: 'eth{0}', port_segment_size: 0, template_id: null, height: 59 },
      ...{ label: { text: 'x', x: null, y: -25, rotation: 0, style: null }, x: upTo(900), y: -upTo(900), z: upTo(3) },
    };
    return later(node, `node-${index}x`);
  }) as unknown as LabProjectState['nodes'];
  const links = nodes.slice(1).flatMap((node, index) => {
    const before = nodes[index];
    // A PC has one port.
    if (before === undefined || before.ports.length === 1 || (node.ports.length === 1 && upTo(1) === 0)) return [];
    const ends = [before, node].map(({ node_id }, end) => ({ node_id, adapter_number: end === 0 ? 1 : 0, port_number: 0 }));
    const filters = [{}, { delay: [12.5, 3] }, { packet_loss: [1], jitter: [1, 'normal'] }][upTo(2)];
    const link = {
      link_id: `link${index}`,
      nodes: ends,
      filters,
      suspend: upTo(2) === 0,
      link_style: [{}, { color: '#ff0000' }][upTo(1)],
    };
    return [later(link, `link-${index}x`)];
  }) as unknown as LabProjectState['links'];
  const drawings = Array.from({ length: upTo(2) }, (_, index) => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${index + 9}" height="9"><rect width="9" height="9"/></svg>`;
    return later({ drawing_id: `d${index}`, svg, x: upTo(50), y: 0, z: 2, rotation: 0, locked: false }, `drawing-${index}x`);
  }) as unknown as LabProjectState['drawings'];
  const config = new Map(
    nodes
      .filter(({ node_type }) => node_type === 'vpcs')
      .map(({ node_id }) => [node_id, new Map([['startup.vpc', `ip 10.0.0.${upTo(9)}\n`]])]),
  );
  const project = { name: 'made', project_id: 'p', ...later({}, 'project-x') };
  const state = { project, nodes, links, drawings, mirrors: new Map(), schedules: new Map(), files: config };
  return { state: state as unknown as LabProjectState, unknown };
}

test(`${labs} exported projects plan no change, and name every key that is lost`, async () => {
  let named = 0;
  for (let seed = 0; seed < labs; seed++) {
    const { state, unknown } = projectOf(seed);
    const text = exportLab(state, catalog);
    const lab = await loadLab({ text, file: 'lab.yaml', files: filesOf({}) });
    assert.deepEqual(linesOf(planLab(lab, state, catalog)), [], `seed ${seed}:\n${text}`);
    const remarks = text.split('\n').filter((line) => line.startsWith('# Not exported of'));
    for (const key of unknown)
      assert.ok(
        remarks.some((line) => line.includes(key)),
        `seed ${seed}: ${key}\n${text}`,
      );
    named += unknown.length;
  }
  assert.ok(named > labs, `${named}`);
});

test('a remark cannot end its comment', async () => {
  const { state } = projectOf(1);
  const text = exportLab({ ...state, project: { ...state.project, 'x\nnodes: {}\u2028y': 1 } as never }, catalog);
  const lab = await loadLab({ text, file: 'lab.yaml', files: filesOf({}) });
  assert.equal(lab.nodes.length, state.nodes.length);
});
