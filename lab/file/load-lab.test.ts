/** Lab files: what they mean, and what is said of wrong and hostile ones. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Lab } from './lab.ts';
import { filesBelow, filesOf } from './lab-files.ts';
import { loadLab } from './load-lab.ts';

const load = (text: string, files: Record<string, string> = {}, vars: Record<string, string> = {}): Promise<Lab> =>
  loadLab({ text, file: 'labs/ring.yaml', files: filesOf(files), vars });
const names = ({ nodes }: Lab) => nodes.map(({ name }) => name);
const ends = ({ links }: Lab) =>
  links.map((link) => link.ends.map(({ node, port }) => (port ? `${node}:${port}` : node)).join(' '));

describe('a lab file', () => {
  it('says three routers in a ring in ten lines', async () => {
    const lab = await load(`name: ring
defaults:
  kind: docker
  image: frr
nodes:
  R[1-3]:
links:
  - [R1, R2]
  - [R2, R3]
  - [R3, R1]`);
    assert.deepEqual(names(lab), ['R1', 'R2', 'R3']);
    assert.deepEqual(ends(lab), ['R1 R2', 'R2 R3', 'R3 R1']);
    assert.deepEqual(lab.nodes[2]?.short, { image: 'frr' });
  });

  it('takes its name from the file, JSON as well as YAML, and anchors', async () => {
    assert.equal((await load('{"nodes": {"A": {"kind": "vpcs"}}}')).name, 'ring');
    const lab = await load('nodes:\n  A: &one {kind: vpcs, x: 1}\n  B: *one\n  C: {<<: *one, x: 2}\n');
    assert.deepEqual(
      lab.nodes.map(({ fields }) => fields.x),
      [1, 1, 2],
    );
  });

  it('expands ranges and counts, and fills in the number and the name of each node', async () => {
    const lab = await load(`
vars: {net: 10.0, size: 64}
nodes:
  PC[08-10]: {kind: vpcs, config: "ip \${net}.0.\${index}/24 \${node} $\${x}", x: "\${size}"}
  S: {kind: ethernet_switch, count: 2}
links:
  - ['PC[08-10]', S1]
  - {ends: ['S[1-2]:Ethernet7', 'PC[08,10]:e0'], filters: {delay: 20ms 5ms, loss: 1%, ba: {rate: 10mbit}}}`);
    assert.deepEqual(names(lab), ['PC08', 'PC09', 'PC10', 'S1', 'S2']);
    assert.equal(lab.nodes[1]?.config, `ip 10.0.0.9/24 PC09 \${x}`);
    assert.equal(lab.nodes[0]?.fields.x, 64);
    assert.deepEqual(ends(lab), ['PC08 S1', 'PC09 S1', 'PC10 S1', 'S1:Ethernet7 PC08:e0', 'S2:Ethernet7 PC10:e0']);
    assert.deepEqual(lab.links[3]?.filters, { delay: [20, 5], packet_loss: [1], bandwidth_ba: [10_000] });
  });

  it('has variables in texts as they are written, and alone with their type', async () => {
    const written = [
      '1.10',
      '010',
      '1e3',
      '0x10',
      '12:30',
      '2026-01-01',
      '00:11:22:33:44:55',
      '123456789012345678901',
      'True',
      'no',
      '7',
    ];
    for (const word of written) {
      const lab = await load(`vars: {v: ${word}}\nnodes: {A: {kind: vpcs, config: "echo \${v}"}}\n`);
      assert.equal(lab.nodes[0]?.config, `echo ${word}`);
    }
    const lab = await load(`vars: {v: 010, w: True}\nnodes: {A: {kind: vpcs, x: "\${v}", locked: "\${w}"}}\n`);
    assert.deepEqual([lab.nodes[0]?.fields.x, lab.nodes[0]?.fields.locked], [10, true]);
    await assert.rejects(load('vars: {v: ~}\nnodes: {A: {kind: vpcs}}\n'), /1:8: a variable is a text, a number, true or false/);
  });

  it('refuses words that YAML takes for numbers, true or nothing where a text belongs', async () => {
    for (const word of ['010', '1.10', '0x10', 'True', '1e3', '123456789012345678901'])
      for (const field of ['config', 'image', 'symbol'])
        await assert.rejects(
          load(`nodes:\n  A: {kind: docker, ${field}: ${word}}\n`),
          /^LabError: ring\.yaml:2:\d+: .* (?:must be a text|has none of the forms)/,
        );
  });

  it('adds what it includes; its own variables and those of the command line win', async () => {
    const files = {
      'parts/base.yaml': 'vars: {a: 1, b: 1, c: 1}\nnodes:\n  B: {kind: vpcs, config: {file: b.cfg, vars: true}}\n',
      'parts/b.cfg': `\${a}\${b}\${c}`,
    };
    const lab = await load('include: [parts/base.yaml]\nvars: {b: 2, c: 2}\nnodes:\n  A: {kind: vpcs}\n', files, { c: '3' });
    assert.deepEqual(names(lab), ['A', 'B']);
    assert.equal(lab.nodes[1]?.config, '123');
  });
});

describe('an error names file, line, column and what to do', () => {
  const cases: readonly (readonly [text: string, says: RegExp])[] = [
    ['nodes:\n  R1: {kind: vpcs, imagee: x}', /^ring.yaml:2:20: there is no field "imagee" in nodes.R1. Did you mean "image"\?$/],
    ['nodes:\n  R1: {kind: vpsc}', /^ring.yaml:2:8: nodes.R1.kind must be one of .*vpcs/],
    ['nodes:\n  R1: {}', /^ring.yaml:2:3: node R1 has neither kind nor template/],
    ['nodes:\n  R1: {kind: vpcs}\nlinks:\n  - [R1, R2]', /^ring.yaml:4:5: there is no node "R2". Did you mean "R1"\?/],
    ['nodes:\n  R1: {kind: vpcs}\nlinks:\n  - [R1, R1]', /^ring.yaml:4:5: a link joins two nodes/],
    [`nodes:\n  R1: {kind: vpcs, symbol: "\${sym}"}`, /^ring.yaml:2:20: there is no variable "sym"/],
    ['nodes:\n  R1: {kind: vpcs\n', /^ring.yaml:3:1: .*Correct the YAML$/],
    ['nodes: {}\n---\nnodes: {}', /^ring.yaml:\d:1: another YAML document begins here, and a file holds one\. Remove/],
    ['nodes:\n  P: {kind: vpcs}\nlinks:\n  - [P[1-3], S]', /^ring.yaml:4:.*Quote ranges in lists/],
    ['nodes:\n  R1: {kind: vpcs}\n  R1: {kind: vpcs}', /^ring.yaml:3:3: .*unique/],
    ['nodes:\n  R[1-2]: {kind: vpcs}\n  R2: {kind: vpcs}', /^ring.yaml:3:3: there is another node "R2"/],
    ['nodes:\n  R[3-1]: {kind: vpcs}', /^ring.yaml:2:3: the range 3-1 is not ascending/],
    ['nodes:\n  A b: {kind: vpcs}', /^ring.yaml:2:3: "A b" cannot be the name/],
    [
      'nodes:\n  A: {kind: vpcs}\n  B: {kind: vpcs}\nlinks:\n  - {ends: [A, B], filters: {delya: 3}}',
      /^ring.yaml:5:5: there is no filter "delya". Did you mean "delay"/,
    ],
    [
      'nodes:\n  A: {kind: vpcs}\n  B: {kind: vpcs}\nlinks:\n  - {ends: [A, B], filters: {delay: 3 parsec}}',
      /"parsec" is not a number/,
    ],
    [
      'nodes:\n  A: {kind: vpcs}\n  B: {kind: vpcs}\nlinks:\n  - {ends: [A, B], filters: {delay: 3m}}',
      /has no unit "m". Known: us, ms, s/,
    ],
    ['drawings:\n  - {text: a, ellipse: [3, 4]}', /^ring.yaml:2:5: a drawing has exactly one/],
    ['nodes: [R1, R2]', /^ring.yaml:1:1: nodes must be a map: fields with values$/],
    ['checks: [{node: A, ping: 10.0.0.1, eventually: 30}]', /checks\.0\.eventually must be a text. Give a number its unit/],
    ['checks: [{node: A, route: default, expect: {via: 10.0.0.1}}]', /checks\.0\.expect\.via must be a list: \[A, B\]/],
    ['- a', /must be a map/],
  ];
  for (const [text, says] of cases) {
    it(text.replaceAll('\n', ' | '), async () => {
      await assert.rejects(load(text), (error: Error) => {
        assert.match(error.message, says);
        return true;
      });
    });
  }
});

describe('hostile files', () => {
  it('are refused: aliases that multiply, depth, names of prototypes, values of other types', async () => {
    const level = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(`*${of}`).join(',')}]\n`;
    const bomb = `a: &a [1,2,3,4,5,6,7,8,9]\n${[...'bcdefghij'].map((name, index) => level(name, 'abcdefghij'[index] as string)).join('')}`;
    await assert.rejects(load(bomb), /aliases/);
    await assert.rejects(load(`nodes: ${'{a: '.repeat(60)}1${'}'.repeat(60)}`), /nested/);
    await assert.rejects(load('['.repeat(10_000)), /nested too deep/);
    await assert.rejects(load('nodes:\n  A: {kind: vpcs, properties: {__proto__: {polluted: 1}}}'), /cannot be the name of a key/);
    await assert.rejects(load('nodes:\n  A: {kind: vpcs, x: .inf}'), /text, numbers/);
    await assert.rejects(load(`nodes:\n  A[1-999999]: {kind: vpcs}`), /more than 5000/);
    await assert.rejects(load(`# ${'x'.repeat(1_048_576)}`), /more than 1048576/);
    assert.equal(({} as { polluted?: number }).polluted, undefined);
  });

  it('reach no file outside of their folder', async () => {
    const top = await mkdtemp(join(tmpdir(), 'lab-'));
    after(() => rm(top, { recursive: true }));
    await mkdir(join(top, 'lab'));
    await writeFile(join(top, 'secret'), 'nodes: {X: {kind: vpcs}}');
    await symlink(join(top, 'secret'), join(top, 'lab/link.yaml'));
    const read = (text: string) => loadLab({ text, file: 'lab.yaml', files: filesBelow(join(top, 'lab')) });
    for (const path of ['../secret', '/etc/passwd', 'a/../../secret', 'link.yaml']) {
      await assert.rejects(read(`include: ["${path}"]`), /outside of the folder/, path);
      await assert.rejects(read(`nodes: {A: {kind: vpcs, config: {file: "${path}"}}}`), /outside of the folder/, path);
    }
    await assert.rejects(read('include: [none.yaml]'), /lab.yaml:1:11: none.yaml cannot be read: there is no such file/);
    await assert.rejects(read('nodes: {A: {kind: vpcs, files: {"../x": a}}}'), /not a path in the folder of a node/);
  });
});
