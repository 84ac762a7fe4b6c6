/**
 * Every value of a lab counts: one that is changed changes the lab file or the report, unless its key is named in the report or its table calls
 * it needless. So a value that is read and dropped is found, whatever becomes of its key.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { KeyTable } from '../../src/schema/foreign-map.ts';
import { generators, LabMaker } from '../../test/support/generated-labs.ts';
import { isTreeMap, type Tree, type TreeMap } from '../file/read-yaml.ts';
import * as cml from './cml-keys.ts';
import * as clab from './containerlab-keys.ts';
import * as eve from './eve-keys.ts';
import type { ImportedLab } from './foreign-lab.ts';
import { type ForeignProgram, importLab } from './import-lab.ts';
import * as netlab from './netlab-keys.ts';

const labsOfEach = 100;
const leavesOfEach = 5;

type Path = readonly (string | number)[];
type Tables = readonly (readonly [RegExp, KeyTable])[];

/** Tables by the path of the map that has the keys; numbers of lists are `0`. */
const tables: Readonly<Record<ForeignProgram, Tables>> = {
  containerlab: [
    [/^$/, clab.fileKeys],
    [/^topology\/(?:nodes|kinds|groups)\/[^/]+$|^topology\/defaults$/, clab.nodeKeys],
    [/^topology\/links\/0$/, clab.linkKeys],
    [/^topology\/links\/0\/endpoints\/0$/, clab.endKeys],
  ],
  cml: [
    [/^$/, cml.fileKeys],
    [/^lab$/, cml.labKeys],
    [/^nodes\/0$/, cml.nodeKeys],
    [/^nodes\/0\/interfaces\/0$/, cml.interfaceKeys],
    [/^links\/0$/, cml.linkKeys],
    [/^links\/0\/conditioning$/, cml.conditioningKeys],
    [/^annotations\/0$/, cml.annotationKeys],
  ],
  netlab: [
    [/^$/, netlab.fileKeys],
    [/^nodes\/[^/]+$/, netlab.nodeKeys],
    [/^nodes\/[^/]+\/clab$/, netlab.clabKeys],
    [/^nodes\/[^/]+\/clab\/binds\/0$/, netlab.bindKeys],
    [/^nodes\/[^/]+\/interfaces\/0$/, netlab.interfaceKeys],
    [/^nodes\/[^/]+\/loopback$/, netlab.loopbackKeys],
    [/^links\/0$/, netlab.linkKeys],
    [/^links\/0\/interfaces\/0$/, netlab.endKeys],
    [/^links\/0\/tc$/, netlab.tcKeys],
  ],
  'eve-ng': [
    [/^lab$/, eve.labKeys],
    [/^node$/, eve.nodeKeys],
    [/^interface$/, eve.interfaceKeys],
    [/^network$/, eve.networkKeys],
  ],
};

function isNeedless(program: ForeignProgram, path: Path): boolean {
  return path.some((key, depth) => {
    const above = path.slice(0, depth).map((one) => (typeof one === 'number' ? '0' : one));
    const table = tables[program].find(([pattern]) => pattern.test(above.join('/')))?.[1];
    return table !== undefined && Object.hasOwn(table, key) && table[key]?.fate === 'needless';
  });
}

function* leavesOf(tree: Tree, path: Path = []): Generator<Path> {
  if (Array.isArray(tree)) for (const [index, one] of tree.entries()) yield* leavesOf(one, [...path, index]);
  else if (isTreeMap(tree)) for (const [key, one] of Object.entries(tree)) yield* leavesOf(one, [...path, key]);
  else if (tree !== null && tree !== undefined) yield path;
}

function at(tree: Tree, path: Path): Tree {
  return path.reduce((value: Tree, key) => (value as TreeMap)[key], tree);
}

/** Returns another value of the same form, or undefined where another one would make another file of it: names that others refer to. */
function otherValue(value: Tree): Tree {
  if (typeof value === 'number') return value + 3;
  if (typeof value === 'boolean') return !value;
  const text = String(value);
  if (/^\d+(?:\.\d+){3}\/\d+$/.test(text)) return text.replace(/^\d+/, '11');
  if (/^[\da-f]{2}(?::[\da-f]{2}){5}$/.test(text)) return text.replace(/..$/, '77');
  if (/^\d+$/.test(text)) return String(Number(text) + 3);
  return `${text}Q7`;
}

/** Adds keys that the generators leave out: taken ones, each with a value of its own. */
const additions: Readonly<Record<'containerlab' | 'cml' | 'netlab', (tree: TreeMap, seed: number) => void>> = {
  containerlab: (tree, seed) => {
    const topology = tree.topology as TreeMap;
    const nodes = topology.nodes as TreeMap;
    for (const node of Object.values(nodes) as TreeMap[]) {
      Object.assign(node, { memory: '3Gb', cpu: 2, 'network-mode': 'none', group: 'spines' });
      if (String(node.kind).includes('xrv')) node.env = { QEMU_MEMORY: 5000 + seed, QEMU_SMP: 4 };
    }
    topology.defaults = { labels: { of: 'defaults' }, env: { FROM_DEFAULTS: 'd' } };
    const { kind } = Object.values(nodes)[0] as { kind: string };
    topology.kinds = { [kind]: { user: 'u', env: { FROM_KIND: 'k' } } };
    topology.groups = { spines: { env: { FROM_GROUP: 'g' } } };
    const [name = ''] = Object.keys(nodes);
    (topology.links as Tree[]).push({ type: 'host', endpoint: { node: name, interface: 'eth9' }, 'host-interface': `veth${seed}` });
  },
  cml: (tree, seed) => {
    for (const node of tree.nodes as TreeMap[])
      Object.assign(node, { cpus: 2, cpu_limit: 80, tags: ['core'], boot_disk_size: 16 + seed });
    const [first] = tree.nodes as [TreeMap];
    (first.interfaces as TreeMap[]).push({ id: 'i1', type: 'physical', slot: 4, mac_address: '52:54:00:00:00:01' });
    for (const link of tree.links as TreeMap[])
      link.conditioning = {
        enabled: true,
        latency: 7,
        jitter: 2,
        loss: 1,
        bandwidth: 900,
        duplicate: 3,
        corrupt_prob: 4,
        limit: 9,
      };
  },
  netlab: (tree, seed) => {
    const nodes = tree.nodes as TreeMap;
    nodes.vm = {
      device: 'iosv',
      box: 'cisco/iosv',
      memory: 1000 + seed,
      cpu: 2,
      interfaces: [{ ifname: 'Gi0/1', ipv4: '10.8.0.1/24' }],
    };
    const [first] = Object.values(nodes) as [TreeMap];
    first.loopback = { ipv4: `10.7.0.${seed}/32` };
    first.routing = { static: [{ ipv4: '10.6.0.0/16', nexthop: { ipv4: '10.9.0.2' } }] };
    Object.assign(first.clab as TreeMap, { env: { A: 'b' }, cmd: 'sleep 9' });
    (tree.links as TreeMap[])[0] = {
      ...(tree.links as TreeMap[])[0],
      tc: { delay: 5, jitter: 1, loss: 2, rate: 800, duplicate: 3, corrupt: 4, reorder: 6 },
    };
  },
};

/** Places whose values decide which file it is, or name another place of it. */
const structural =
  /(?:^|\/)(?:node_definition|provider|device|n1|n2|i1|i2|endpoints\/\d+|node|id|target)(?:\/|$)|nodes\/\w+\/interfaces\/\d+\/ifname$/;

interface Found {
  readonly why: string;
}

function silentlyLost(program: ForeignProgram, before: ImportedLab, changed: string, path: Path): Found | undefined {
  let after: ImportedLab;
  try {
    after = importLab(changed, 'x', program);
  } catch {
    // Said in words.
    return undefined;
  }
  const shown = ({ text: lab, report }: ImportedLab) => `${lab}\n${JSON.stringify(report)}`;
  if (shown(before) !== shown(after) || isNeedless(program, path)) return undefined;
  const reported = before.report.flatMap(({ taken, changed: other, missing }) => [...taken, ...other, ...missing]).join('\n');
  const isNamed = path.some((key) => typeof key === 'string' && reported.includes(key));
  return isNamed ? undefined : { why: `${path.join('/')} can be changed without a trace` };
}

describe('every value of a lab changes the lab file or the report, is named, or needless', () => {
  for (const program of ['containerlab', 'cml', 'netlab'] as const)
    it(`${labsOfEach} of ${program}`, () => {
      const lost = new Map<string, string>();
      let tried = 0;
      for (let seed = 1; seed <= labsOfEach; seed += 1) {
        const make = new LabMaker(seed);
        const tree = parse(generators[program](make), { version: '1.2' }) as TreeMap;
        additions[program](tree, seed);
        // JSON is YAML, and read faster; `generated-labs.test.ts` imports the forms that YAML has of its own.
        const text = JSON.stringify(tree);
        const before = importLab(text, 'x', program);
        const leaves = [...leavesOf(tree)].filter((path) => !structural.test(path.join('/')));
        for (let one = 0; one < leavesOfEach; one += 1) {
          const path = leaves[make.upTo(leaves.length - 1)] as Path;
          const copy = structuredClone(tree);
          const container = at(copy, path.slice(0, -1)) as TreeMap;
          const key = path.at(-1) as string;
          container[key] = otherValue(container[key]);
          const found = silentlyLost(program, before, JSON.stringify(copy), path);
          if (found) lost.set(path.map((part) => (typeof part === 'number' ? 0 : part)).join('/'), `seed ${seed}: ${found.why}`);
          tried += 1;
        }
      }
      assert.deepEqual([...lost.values()], []);
      assert.equal(tried, labsOfEach * leavesOfEach);
    });

  it(`${labsOfEach} of eve-ng`, () => {
    const lost = new Map<string, string>();
    for (let seed = 1; seed <= labsOfEach; seed += 1) {
      const make = new LabMaker(seed);
      const machine = 'cpu="2" ram="700" ethernet="3" console="vnc" firstmac="50:00:00:01:00:00" qemu_nic="e1000" qemu_arch="i386"';
      const router = 'ram="300" nvram="64" idlepc="0x60" ethernet="2" serial="1"';
      const text = generators['eve-ng'](make)
        .replaceAll('type="qemu"', `type="qemu" ${machine}`)
        .replaceAll(/type="(iol|dynamips)"/g, `type="$1" ${router}`);
      const before = importLab(text, 'x', 'eve-ng');
      const attributes = [...text.matchAll(/(?<=<(\w+)[^<>]*) ([\w-]+)="([^"]*)"/g)];
      for (let one = 0; one < leavesOfEach; one += 1) {
        const found = attributes[make.upTo(attributes.length - 1)];
        const [whole = '', element = '', key = '', value = ''] = found ?? [];
        if (['type', 'template', 'id', 'network_id'].includes(key)) continue;
        const from = found?.index ?? 0;
        const changed = `${text.slice(0, from)} ${key}="${String(otherValue(value))}"${text.slice(from + whole.length)}`;
        const gone = silentlyLost('eve-ng', before, changed, [element, key]);
        if (gone) lost.set(`${element} ${key}`, `seed ${seed}: ${gone.why}`);
      }
    }
    assert.deepEqual([...lost.values()], []);
  });
});
