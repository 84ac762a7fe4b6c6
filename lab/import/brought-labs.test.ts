/** Labs in the manner of those that people publish: values stay as they are written, and nothing is lost or renamed without a word. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lab } from '../file/lab.ts';
import { filesOf } from '../file/lab-files.ts';
import { loadLab } from '../file/load-lab.ts';
import type { ImportedLab } from './foreign-lab.ts';
import { importLab } from './import-lab.ts';

const open = ({ text }: ImportedLab): Promise<Lab> => loadLab({ text, file: 'lab.yaml', files: filesOf({}) });
const linksOf = ({ links }: Lab) =>
  links.map(({ ends }) => ends.map(({ node, port }) => (port ? `${node}:${port}` : node)).join(' '));
const reportOf = ({ report }: ImportedLab, name: string) => {
  const { changed = [], missing = [] } = report.find(({ node }) => node === name) ?? {};
  return [...changed, ...missing];
};

describe('a topology of containerlab', () => {
  it('keeps numbers in its environment as they are written', async () => {
    const imported = importLab(
      `topology:
  nodes:
    r1: {kind: linux, image: a, env: {VERSION: 1.10, LEVEL: 007, ON: yes, EMPTY: , HEX: 0x1F, COUNT: 3, LONG: 1e3}}
    r2: {kind: cisco_csr1000v, env: {QEMU_MEMORY: 6G, QEMU_SMP: 2.0}}
`,
      'env.clab.yml',
    );
    const [r1, r2] = (await open(imported)).nodes;
    const expected = ['VERSION=1.10', 'LEVEL=007', 'ON=yes', 'EMPTY=', 'HEX=0x1F', 'COUNT=3', 'LONG=1e3'];
    assert.equal(r1?.properties.environment, expected.join('\n'));
    assert.deepEqual([r2?.short.memory, r2?.short.cpus], [6144, 2]);
  });

  it('names links of unknown forms, ports that would meet, and names that change', async () => {
    const imported = importLab(
      `topology:
  nodes:
    s 1: {kind: arista_ceos, image: a}
    s2: {kind: arista_ceos, image: a}
  links:
    - endpoints: ["s 1:eth1/1", "s2:eth1"]
    - endpoints: ["s 1:eth2/1", "s2:eth2"]
    - brief: ["s 1:eth3", "s2:eth3"]
    - {}
`,
      'links.clab.yml',
    );
    assert.deepEqual(linksOf(await open(imported)), ['s-1:eth1 s2:eth1', 's-1 s2:eth2']);
    assert.deepEqual(reportOf(imported, 's-1'), [
      'its name, which is "s 1" in the file',
      'eth1/1 is eth1',
      'eth2/1 is its first free port',
    ]);
    assert.deepEqual(reportOf(imported, '(lab)'), ['link 3: brief', 'link 4: it has no two ends']);
  });
});

describe('a lab of EVE-NG', () => {
  it('has hardware, adapters for all its interfaces, and names networks and serial links that lead nowhere', async () => {
    const machine = (id: number, more: string, port: number) =>
      `<node id="${id}" name="M${id}" type="qemu" template="asav" image="asav" ethernet="2" ${more}><interface id="${port}" name="G" network_id="1"/></node>`;
    const imported = importLab(
      `<lab name="x"><topology><nodes>
${machine(1, 'console="vnc" qemu_nic="virtio-net-pci" qemu_arch="x86_64"', 4)}
${machine(2, 'console="rdp" qemu_nic="other" qemu_arch="z80"', 0)}
<node id="3" name="I" type="iol" image="l3.bin" console="telnet"><interface id="18" name="s2/1" type="serial" remote_id="9" remote_if="18"/></node>
</nodes><networks><network id="1" type="bridge" name="N"/><network id="2" type="bridge" name="idle"/></networks></topology></lab>`,
      'x.unl',
    );
    const lab = await open(imported);
    const [one] = lab.nodes;
    assert.deepEqual(linksOf(lab), ['M1:4/0 M2:0/0']);
    assert.deepEqual(
      [one?.short.adapters, one?.fields.console_type, one?.properties],
      [5, 'vnc', { adapter_type: 'virtio-net-pci', platform: 'x86_64' }],
    );
    assert.deepEqual(reportOf(imported, 'M2').slice(1), ['console', 'qemu_nic', 'qemu_arch']);
    assert.deepEqual(reportOf(imported, 'I'), []);
    assert.deepEqual(reportOf(imported, '(lab)'), [
      'the serial link of I:2/1: nothing is at its other end',
      'network idle: nothing is on it',
    ]);
  });
});

it('routers of EVE-NG have the memory of their platform where the file names none, and chassis', async () => {
  const node = (id: number, template: string, more = '') =>
    `<node id="${id}" name="R${id}" type="dynamips" template="${template}" image="x" ${more}/>`;
  const nodes = [node(1, 'c1710'), node(2, 'c3725', 'ram="256"'), node(3, 'c3640'), node(4, 'other')].join('');
  const imported = importLab(`<lab name="x"><topology><nodes>${nodes}</nodes></topology></lab>`, 'x.unl');
  assert.deepEqual(
    (await open(imported)).nodes.map(({ short, properties }) => [short.memory, properties]),
    [
      [160, { platform: 'c1700', chassis: '1710' }],
      [256, { platform: 'c3725' }],
      [192, { platform: 'c3600', chassis: '3640' }],
      [512, { platform: 'c7200' }],
    ],
  );
  assert.deepEqual([reportOf(imported, 'R1'), reportOf(imported, 'R2')], [['memory is 160 MiB'], []]);
});

it('a lab of CML has adapters to the highest slot, MAC addresses, and names labels that change', async () => {
  const imported = importLab(
    `lab: {title: x}
nodes:
  - {id: n0, label: "PC: 1", node_definition: nxosv9000, ram: 512, interfaces: [{id: i0, slot: 0, type: physical}, {id: i1, slot: 5, type: physical, mac_address: "52:54:00:aa:bb:cc"}]}
  - {id: n1, label: 007, node_definition: iosv, ram: 512.0, interfaces: [{id: i0, slot: 0, type: physical, mac_address: other}]}
links:
  - {id: l0, n1: n0, i1: i1, n2: n1, i2: i0, conditioning: {latency: 5.0, gap: 0.0, enabled: true}}
`,
    'x.yaml',
  );
  const lab = await open(imported);
  const [one, two] = lab.nodes;
  assert.deepEqual([one?.short.adapters, linksOf(lab)], [6, ['PC--1:5/0 007:0/0']]);
  assert.deepEqual(one?.fields.custom_adapters, [{ adapter_number: 5, mac_address: '52:54:00:aa:bb:cc' }]);
  assert.deepEqual([two?.name, two?.short.memory, lab.links[0]?.filters], ['007', 512, { delay: [5] }]);
  assert.equal(reportOf(imported, 'PC--1')[0], 'its name, which is "PC: 1" in the file');
  assert.match(reportOf(imported, '007').join(), /interfaces\[0\]\.mac_address/);
  assert.deepEqual(reportOf(imported, '(lab)'), []);
});

it("netlab's output has memory and processors of machines, and the settings that containers of a kind need", async () => {
  const imported = importLab(
    `name: x
provider: libvirt
nodes:
  r1: {device: iosv, box: cisco/iosv, memory: 1024, cpu: 2, interfaces: []}
  s1: {device: eos, box: "ceos:4", clab: {kind: ceos, env: {INTFTYPE: et, V: 1.0}}, interfaces: []}
links: []
`,
    'x.yml',
  );
  const [r1, s1] = (await open(imported)).nodes;
  assert.deepEqual([r1?.short.memory, r1?.short.cpus], [1024, 2]);
  assert.match(String(s1?.properties.environment), /^CEOS=1\n(?:.*\n)*INTFTYPE=et\nV=1\.0$/);
  assert.match(String(s1?.properties.start_command), /^\/sbin\/init /);
});
