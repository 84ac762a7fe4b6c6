/** Labs of other programs, written here in the shape of theirs: what becomes of them, and what hostile ones do. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Lab } from '../file/lab.ts';
import { filesOf } from '../file/lab-files.ts';
import { loadLab } from '../file/load-lab.ts';
import { readYaml } from '../file/read-yaml.ts';
import type { ImportedLab } from './foreign-lab.ts';
import type { ForeignProgram } from './import-lab.ts';
import { importLab } from './import-lab.ts';

const open = ({ text }: ImportedLab, files = {}): Promise<Lab> => loadLab({ text, file: 'lab.yaml', files: filesOf(files) });
const linksOf = ({ links }: Lab) =>
  links.map(({ ends }) => ends.map(({ node, port }) => (port ? `${node}:${port}` : node)).join(' '));
const kindsOf = ({ nodes }: Lab) =>
  Object.fromEntries(nodes.map(({ name, kind, short }) => [name, `${kind} ${short.image ?? ''}`.trim()]));
const reportOf = ({ report }: ImportedLab, name: string) => report.find(({ node }) => node === name);

describe('a topology of containerlab', () => {
  const topology = `
name: edge
topology:
  defaults: {env: {A: "1"}}
  kinds:
    linux: {image: "quay.io/frrouting/frr:10.1"}
    nokia_srlinux: {image: ghcr.io/nokia/srlinux}
  groups: {spines: {kind: nokia_srlinux}}
  nodes:
    r1:
      kind: linux
      binds: ["r1/daemons:/etc/frr/daemons", "/lib/modules:/lib/modules"]
      env: {B: "\${x}"}
      exec: [ip addr add 10.0.0.1/24 dev eth1]
      mgmt-ipv4: 172.20.20.2
    leaf: {group: spines, startup-config: leaf.cfg, type: ixrd3}
    sw: {kind: arista_ceos, image: "ceos:4.32"}
    old: {kind: cisco_xrv9k, image: "vrnetlab/vr-xrv9k:7.2.1"}
    iol: {kind: cisco_iol, image: "vrnetlab/cisco_iol:17.12.01", startup-config: ./iol.partial.cfg}
    br0: {kind: bridge}
  links:
    - endpoints: ["r1:eth1", "leaf:e1-1"]
      mtu: 1500
    - endpoints: ["r1:eth2", "br0:p1"]
    - endpoints: ["sw:eth1", "old:eth2"]
    - endpoints: ["leaf:e1-2", "host:veth0"]
    - endpoints: ["iol:Ethernet1/2", "br0:p2"]
    - {type: dummy, endpoint: {node: sw, interface: eth3}}
    - {type: host, endpoint: {node: sw, interface: eth4}, host-interface: veth-sw, mtu: 9000}
    - {type: mgmt-net, endpoint: {node: sw, interface: eth5}, host-interface: sw-mgmt}
    - endpoints: ["sw:eth6", "macvlan:enp0s3"]
    - {type: vxlan, endpoint: {node: old, interface: eth7}, remote: 192.0.2.9, vni: 100, udp-port: 4789}
    - endpoints: ["old:eth8", "vxlan:vx0"]
`;

  it('becomes a lab file, with a report for each node', async () => {
    const imported = importLab(topology, 'edge.clab.yml');
    const lab = await open(imported, { 'r1/daemons': 'bgpd=yes\n', 'iol.partial.cfg': 'hostname edge\n' });
    assert.deepEqual(kindsOf(lab), {
      r1: 'docker quay.io/frrouting/frr:10.1',
      leaf: 'docker ghcr.io/nokia/srlinux',
      sw: 'docker ceos:4.32',
      old: 'qemu cisco_xrv9k.qcow2',
      iol: 'docker vrnetlab/cisco_iol:17.12.01',
      br0: 'ethernet_switch',
      'host-veth0': 'cloud',
      'host-veth-sw': 'cloud',
      'mgmt-net-sw-mgmt': 'nat',
      'macvlan-enp0s3': 'cloud',
    });
    assert.deepEqual(linksOf(lab), [
      'r1:eth1 leaf:eth1',
      'r1:eth2 br0',
      'sw:eth1 old:2/0',
      'leaf:eth2 host-veth0',
      'iol:e1/2 br0',
      'sw:eth4 host-veth-sw',
      'sw:eth5 mgmt-net-sw-mgmt',
      'sw:eth6 macvlan-enp0s3',
    ]);
    assert.deepEqual(reportOf(imported, 'old')?.missing.slice(-2), ['link of type vxlan', 'link of type vxlan']);
    const iol = lab.nodes.find(({ name }) => name === 'iol');
    assert.deepEqual([iol?.short.adapters, iol?.properties.environment], [7, 'IOL_PID=auto\nA=1']);
    assert.equal(iol?.files.get('startup-config.cfg'), 'hostname edge\n');
    assert.deepEqual(reportOf(imported, 'iol')?.missing, []);
    assert.match(reportOf(imported, 'iol')?.changed.join() ?? '', /^\.\/iol\.partial\.cfg is its whole configuration/);
    assert.deepEqual(lab.nodes[0]?.properties, { environment: `A=1\nB=\${x}`, extra_volumes: ['/etc/frr'] });
    assert.equal(lab.nodes[0]?.files.get('etc/frr/daemons'), 'bgpd=yes\n');
    assert.deepEqual(reportOf(imported, 'r1')?.missing, [
      'bind /lib/modules:/lib/modules',
      'exec: commands after the start',
      'mgmt-ipv4: address in the management network',
      'link mtu: links carry frames of any length',
    ]);
    assert.deepEqual(reportOf(imported, 'leaf')?.changed, ['e1-1 is eth1', 'e1-2 is eth2']);
    assert.match(reportOf(imported, 'old')?.missing.join() ?? '', /its disk/);
    assert.deepEqual(reportOf(imported, 'sw')?.missing, ['link of type dummy', 'link mtu: links carry frames of any length']);
  });

  it('with stages, and with what later versions added, is taken with a report', async () => {
    const imported = importLab(
      `name: stages
prefix: ""
mgmt: {network: statics, ipv4-subnet: 172.100.100.0/24}
settings: {certificate-authority: {external: {cert: a.pem}}}
topology:
  kinds: null
  nodes:
    r1:
    r2:
      kind: linux
      image: "\${IMAGE:=alpine:3}"
      stages: {create: {wait-for: [{node: r1, stage: healthy}]}, configure: {exec: [{command: "ls /"}]}}
      healthcheck: {test: [CMD-SHELL, "true"], interval: 3}
      network-mode: none
      dns: {servers: [1.1.1.1]}
      binds: [null, 7, "a:b:c:d"]
      env: {N: null, M: 3}
      env-files: [x.env]
      certificate: {issue: true}
    h: {kind: host}
    o: {kind: ovs-bridge}
  links:
    - endpoints: [{node: r1, interface: eth1, ipv4: 10.0.0.1/30}, {node: r2, interface: eth1}]
      vars: {cost: 1}
`,
      'stages.clab.yml',
    );
    const lab = await open(imported);
    assert.deepEqual(linksOf(lab), ['r1:eth1 r2:eth1']);
    assert.deepEqual([kindsOf(lab).r1, kindsOf(lab).r2], ['docker localhost/linux', 'docker alpine:3']);
    const missing = reportOf(imported, 'r2')?.missing.join() ?? '';
    for (const key of ['stages', 'healthcheck', 'dns', 'env-files', 'certificate']) assert.match(missing, new RegExp(key));
  });
});

describe('a lab of EVE-NG', () => {
  const config = Buffer.from('set pcname VPC\nip 10.0.0.2/24\n').toString('base64');
  const note = Buffer.from(
    `<div style="position: absolute; top: 40px; left: -7px;"><p>Site &amp; core<br>2nd \${x}</p></div>`,
  ).toString('base64');
  const lab = `<?xml version="1.0" encoding="UTF-8"?>
<lab name="campus &amp; core" version="1">
  <topology>
    <nodes>
      <node id="1" name="R 1" type="qemu" template="vios" image="vios-15.6" cpu="1" ram="512" ethernet="4" left="300" top="200" config="0">
        <interface id="0" name="Gi0/0" type="ethernet" network_id="1"/>
        <interface id="2" name="Gi0/2" type="ethernet" network_id="2"/>
      </node>
      <node id="2" name="VPC" type="vpcs" template="vpcs" left="10" top="20"><interface id="0" name="eth0" type="ethernet" network_id="1"/></node>
      <node id="3" name="IOL" type="iol" template="iol" image="l3.bin" ram="1024" ethernet="2"><interface id="0" name="e0/0" type="ethernet" network_id="2"/></node>
      <node id="4" name="D" type="docker" image="alpine" ethernet="1"><interface id="0" name="eth0" type="ethernet" network_id="2"/></node>
    </nodes>
    <networks><network id="1" type="bridge" name="Net-1" visibility="0"/><network id="2" type="pnet0" name="Out" left="5" top="6"/></networks>
  </topology>
  <objects>
    <configs><config id="1">${config}</config><config id="2">${config}</config></configs>
    <textobjects>
      <textobject id="1" name="txt 1" type="text"><data>${note}</data></textobject>
      <textobject id="2" name="box" type="square"><data>${Buffer.from('<svg/>').toString('base64')}</data></textobject>
    </textobjects>
    <lineobjects><lineobject id="1" x1="1" y1="2"/></lineobjects>
  </objects>
</lab>`;

  it('becomes a lab file, networks becoming links, switches and NAT', async () => {
    const imported = importLab(lab, 'campus.unl');
    const read = await open(imported);
    assert.equal(read.name, 'campus & core');
    assert.deepEqual(kindsOf(read), {
      'R-1': 'qemu vios-15.6.qcow2',
      VPC: 'vpcs',
      IOL: 'iou l3.bin',
      D: 'docker alpine',
      Out: 'ethernet_switch',
      'Out-out': 'nat',
    });
    assert.deepEqual(linksOf(read), ['R-1:0/0 VPC', 'R-1:2/0 Out', 'IOL:0/0 Out', 'D:0/0 Out', 'Out Out-out']);
    assert.equal(read.nodes[1]?.config, 'set pcname VPC\nip 10.0.0.2/24\n');
    assert.deepEqual(reportOf(imported, 'VPC')?.taken, ['vpcs vpcs', 'start-up configuration']);
    assert.match(reportOf(imported, 'R-1')?.missing.join() ?? '', /its disk.*its saved configuration, which is not used/);
    assert.deepEqual(
      read.drawings.map(({ x, y }) => [x, y]),
      [[-7, 40]],
    );
    assert.match(JSON.stringify(read.drawings), /Site &amp; core\\n2nd \$\{x\}/);
    assert.deepEqual(reportOf(imported, '(lab)')?.missing, ['square box', 'lineobjects']);
  });

  it('that is hostile is refused: entities, depth, other documents', () => {
    const entities = '<?xml version="1.0"?><!DOCTYPE lab [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><lab name="&b;"></lab>';
    assert.throws(() => importLab(entities, 'x.unl'), /document type has no place/);
    assert.throws(() => importLab('<lab name="&file;"/>', 'x.unl'), /entity/i);
    assert.throws(() => importLab(`<lab>${'<a>'.repeat(1000)}`, 'x.unl'), /nested deeper/);
    assert.throws(() => importLab('<lab><topology></lab>', 'x.unl'), /^LabError: x.unl:1:\d+/);
    assert.throws(() => importLab('<html/>', 'x.unl', 'eve-ng'), /is not a lab of EVE-NG/);
  });
});

describe('a lab of CML', () => {
  it('becomes a lab file, with the conditions of its links as filters', async () => {
    const imported = importLab(
      `lab: {title: wan, version: 0.2.0}
nodes:
  - {id: n0, label: rtr 1, node_definition: iosv, x: -100, y: 20, ram: 768, cpus: 1, configuration: "hostname r1",
     interfaces: [{id: i0, type: loopback, label: Lo0}, {id: i1, type: physical, slot: 0, label: Gi0/0}, {id: i2, type: physical, slot: 1, label: Gi0/1}]}
  - {id: n3, label: xe, node_definition: cat8000v, image_definition: null, ram: null, hide_links: false, tags: [core],
     configuration: [{name: iosxe_config.txt, content: "hostname \${x}\\n"}], interfaces: []}
  - {id: n1, label: sw, node_definition: unmanaged_switch, interfaces: [{id: i0, type: physical, slot: 0}]}
  - {id: n2, label: ext, node_definition: external_connector, interfaces: [{id: i0, type: physical, slot: 0}]}
links:
  - {id: l0, n1: n0, i1: i2, n2: n1, i2: i0, conditioning: {enabled: true, latency: 40, jitter: 5, loss: 1.5, bandwidth: 2000, reorder_prob: 3, gap: 0}}
  - {id: l1, n1: n1, i1: i0, n2: n2, i2: i0}
annotations:
  - {type: text, text_content: "Site A", x1: 3.5, y1: 4}
  - {type: rectangle, x1: 0, y1: 0, x2: 10, y2: 10, border_color: "#808080FF", rotation: 0}
smart_annotations:
  - {tag: core, label: core, is_on: true, padding: 35}
`,
      'wan.yaml',
    );
    const lab = await open(imported);
    assert.deepEqual(kindsOf(lab), { 'rtr-1': 'qemu iosv.qcow2', xe: 'qemu cat8000v.qcow2', sw: 'ethernet_switch', ext: 'nat' });
    assert.deepEqual(linksOf(lab), ['rtr-1:1/0 sw', 'sw ext']);
    assert.deepEqual(lab.links[0]?.filters, { delay: [40, 5], packet_loss: [1.5], bandwidth: [2000] });
    assert.equal(lab.drawings.length, 1);
    assert.equal(reportOf(imported, 'rtr-1')?.missing.length, 1);
    assert.equal(lab.nodes[0]?.files.get('config/ios_config.txt'), 'hostname r1', 'a configuration of one text');
    assert.equal(lab.nodes.find(({ name }) => name === 'xe')?.files.get('config/iosxe_config.txt'), `hostname \${x}\n`);
    assert.deepEqual(reportOf(imported, '(lab)')?.missing, [
      'conditions of the link l0: reorder_prob',
      'annotation of type rectangle',
      'smart annotations: core',
    ]);
  });
});

describe("netlab's output", () => {
  const recorded = (name: string) => readFileSync(new URL(`../../test/support/netlab/${name}`, import.meta.url), 'utf8');

  it('as netlab writes it, in YAML 1.1, has its images, links, addresses and configurations', async () => {
    const text = recorded('output.yml');
    for (const form of [text, text.replace(/^%YAML 1\.1\n---\n/, '')]) {
      const imported = importLab(form, 'output.yml');
      const folders = [...imported.text.matchAll(/file: (\S+)/g)].map(([, path]) => [path ?? '', `content of ${path}\n`] as const);
      const lab = await open(imported, Object.fromEntries(folders));
      const frr = 'docker quay.io/frrouting/frr:10.5.3';
      assert.deepEqual(kindsOf(lab), { e1: frr, e2: frr, h1: 'docker python:3.13-alpine', r3: frr });
      assert.deepEqual(linksOf(lab), ['e1:eth1 e2:eth1', 'e2:eth2 r3:eth1', 'e1:eth2 r3:eth2', 'e1:eth3 h1:eth1']);
      const [e1, , h1] = lab.nodes;
      assert.equal(e1?.files.get('etc/frr/daemons'), 'content of node_files/e1/daemons\n');
      assert.equal(e1?.files.get('etc/config/02-ospf.sh'), 'content of node_files/e1/ospf\n');
      assert.deepEqual(e1?.properties.extra_volumes, ['/etc/config', '/etc/frr']);
      const network = e1?.files.get('etc/network/interfaces') ?? '';
      for (const word of ['10.0.0.1/32 dev lo', '10.1.0.1/30 dev eth1', '10.1.0.9/30 dev eth2', '192.0.2.1/24 dev eth3'])
        assert.ok(network.includes(`up ip address add ${word}`), network);
      assert.match(h1?.files.get('etc/network/interfaces') ?? '', /eth1\n {2}up ip route add 172\.16\.0\.0\/16 via 192\.0\.2\.1\n/);
      assert.deepEqual(
        reportOf(imported, 'e1')?.missing.filter((one) => !/^(interfaces|mgmt|mtu|loopback)/.test(one)),
        ['clab.exec: commands after the start'],
      );
      assert.match(reportOf(imported, 'e1')?.changed.join() ?? '', /run \/etc\/config\/01-initial\.sh, \/etc\/config\/02-ospf\.sh/);
    }
  });

  it('is distinguished from its sources, which are refused with the command that helps', () => {
    const sources = [
      recorded('topology.yml'),
      'defaults.device: frr\nnodes: [a, b]\nlinks: [a-b]\n',
      'provider: clab\nnodes: {a: {device: frr}, b: }\nlinks: [{a: , b: , prefix.ipv4: 10.0.0.0/30}]\n',
      'plugin: [x]\ndefaults: {device: iosv, sources: [y]}\ngroups: {g: {members: [a]}}\nnodes: {a: {module: [bgp]}}\n',
    ];
    for (const text of sources)
      assert.throws(() => importLab(text, 'topology.yml'), /is a source of netlab.*Run `netlab create -o yaml topology\.yml/);
  });

  it('becomes a lab file', async () => {
    const imported = importLab(
      `name: ospf
provider: clab
nodes:
  r1: {device: frr, box: "frrouting/frr:10", module: [ospf]}
  r2: {device: frr, box: "frrouting/frr:10"}
  r3: {device: iosv, box: cisco/iosv}
links:
  - {interfaces: [{node: r1, ifname: eth1}, {node: r2, ifname: eth1}], prefix: {ipv4: 10.0.0.0/30}}
  - {interfaces: [{node: r1, ifname: eth2}, {node: r2, ifname: eth2}, {node: r3, ifname: Gi0/1}]}
`,
      'netlab.snapshot.yml',
    );
    const lab = await open(imported);
    assert.deepEqual(kindsOf(lab), {
      r1: 'docker frrouting/frr:10',
      r2: 'docker frrouting/frr:10',
      r3: 'qemu cisco-iosv.qcow2',
      'LAN-2': 'ethernet_switch',
    });
    assert.deepEqual(linksOf(lab), ['r1:eth1 r2:eth1', 'r1:eth2 LAN-2', 'r2:eth2 LAN-2', 'r3 LAN-2']);
    assert.match(reportOf(imported, 'r1')?.missing.join() ?? '', /ospf/);
  });
});

describe('any other file', () => {
  it('is refused in words', () => {
    assert.throws(() => importLab('hello: 1', 'x.yaml'), /is of no program that is known. Name it with --from/);
    const dynagen = '[localhost:7200]\n  [[3725]]\n    ram = 128\n  [[ROUTER R1]]\n    s1/0 = R2 s1/0\n';
    assert.throws(() => importLab(dynagen, 'x.net'), /is a topology of Dynagen.*Convert it with gns3-converter/);
    const odd: readonly (readonly [ForeignProgram, string])[] = [
      ['containerlab', 'topology: 3'],
      ['containerlab', 'topology: {nodes: {a: {kind: linux}}, links: [{endpoints: ["a:eth1", "b:eth1"]}]}'],
      ['containerlab', 'topology: {nodes: {__proto__: {kind: linux}}}'],
      ['cml', '- 1'],
      ['cml', 'lab: {}\nnodes: [{id: a, label: a}]\nlinks: [{n1: a, n2: b}]'],
      ['netlab', '{}'],
      ['netlab', 'nodes: [a]\nlinks: [a-b]'],
    ];
    for (const [program, text] of odd) {
      assert.throws(() => importLab(text, 'x.yaml', program), { name: 'LabError' }, `${program}: ${text}`);
    }
    assert.equal(({} as { kind?: string }).kind, undefined);
  });
});

describe('what people bring', () => {
  it('of containerlab: machines keep start-up configuration, memory, processors and MAC addresses; the rest is named', async () => {
    const imported = importLab(
      `name: m
topology:
  kinds: {cisco_xrv9k: {startup-config: "configs/__clabNodeName__.cfg", image: "vrnetlab/xrv9k:1"}}
  nodes:
    r1:
      kind: cisco_xrv9k
      env: {QEMU_MEMORY: "8192", QEMU_SMP: 4, OTHER: x}
      binds: ["a:/b/c"]
      cmd: go
      labels: {site: a}
      mgmt-ipv4: 172.20.20.9
    bare: {kind: linux}
  links:
    - endpoints: [{node: r1, interface: eth1, mac: "02:00:00:00:00:01"}, "bare:eth1"]
`,
      'm.clab.yml',
    );
    const lab = await open(imported, { 'configs/r1.cfg': 'hostname r1\n' });
    const [r1, bare] = lab.nodes;
    assert.deepEqual([r1?.short.memory, r1?.short.cpus], [8192, 4]);
    assert.equal(r1?.files.get('config/iosxr_config.txt'), 'hostname r1\n');
    assert.deepEqual(r1?.fields.custom_adapters, [{ adapter_number: 1, mac_address: '02:00:00:00:00:01' }]);
    const missing = reportOf(imported, 'r1')?.missing.join('\n') ?? '';
    for (const key of ['binds', 'cmd', 'labels', 'mgmt-ipv4', 'env.OTHER']) assert.match(missing, new RegExp(`^${key}`, 'm'));
    assert.equal(bare?.short.image, 'localhost/linux');
    assert.match(reportOf(imported, 'bare')?.missing.join() ?? '', /its image/);
    assert.deepEqual(imported.files, ['configs/r1.cfg']);
  });

  it('of containerlab: a name with dollar signs, which are doubled in a topology, stands in a configuration as it is', async () => {
    const text = `name: m
topology:
  nodes:
    r$$$$1: {kind: cisco_xrv9k, startup-config: "hostname __clabNodeName__\\nend\\n"}
`;
    const [router] = (await open(importLab(text, 'm.clab.yml'), {})).nodes;
    assert.equal(router?.files.get('config/iosxr_config.txt'), 'hostname r$$1\nend\n');
  });

  it('of EVE-NG: routers keep the ports that the file names, serial links too', async () => {
    const port = (id: number, name: string, type: string, more: string) =>
      `<interface id="${id}" name="${name}" type="${type}" ${more}/>`;
    const imported = importLab(
      `<lab name="r"><topology><nodes>
<node id="1" name="R1" type="iol" image="l3.bin" ethernet="2" serial="2">${port(1, 'e1/0', 'ethernet', 'network_id="1"')}${port(18, 's2/1', 'serial', 'remote_id="2" remote_if="18"')}</node>
<node id="2" name="R2" type="iol" image="l3.bin" ethernet="2" serial="2">${port(16, '', 'ethernet', 'network_id="1"')}${port(18, 's2/1', 'serial', 'remote_id="1" remote_if="18"')}</node>
<node id="3" name="D1" type="dynamips" template="c3725" image="c.image" ram="256" nvram="256" idlepc="0x60a" slot1="NM-1FE-TX">${port(16, 'fa1/0', 'ethernet', 'network_id="2"')}</node>
<node id="4" name="D2" type="dynamips" template="c7200" image="c.image">${port(0, 'fa0/0', 'ethernet', 'network_id="2"')}</node>
</nodes><networks><network id="1" type="bridge"/><network id="2" type="bridge"/></networks></topology></lab>`,
      'r.unl',
    );
    const lab = await open(imported);
    assert.deepEqual(linksOf(lab), ['R1:2/1 R2:2/1', 'R1:1/0 R2:0/1', 'D1:1/0 D2:0/0']);
    assert.deepEqual(lab.nodes[0]?.properties, { ethernet_adapters: 2, serial_adapters: 2 });
    assert.deepEqual(lab.nodes[2]?.properties, { platform: 'c3725', idlepc: '0x60a', nvram: 256, slot1: 'NM-1FE-TX' });
    assert.doesNotMatch(JSON.stringify(imported.report), /stored only/);
  });

  it('of CML 2.8: a configuration of one text is a file, written as a block', async () => {
    const text = `hostname r1\n!\ninterface GigabitEthernet0/0\n description ${'a long line '.repeat(20)}\nend\n`;
    const imported = importLab(
      JSON.stringify({
        lab: { title: 'x' },
        nodes: [{ id: 'n0', label: 'r1', node_definition: 'iosv', configuration: text }],
        links: [],
      }),
      'x.yaml',
    );
    assert.match(imported.text, /ios_config\.txt: \|/);
    assert.equal((await open(imported)).nodes[0]?.files.get('config/ios_config.txt'), text);
  });

  it('in YAML 1.1 is read by the rules of 1.2, also in keys', () => {
    const { value } = readYaml('%YAML 1.1\n---\na: [e1, E2, no, 12:30, 2026-01-01]\n1e1: x\n10: y\n', 'x.yaml');
    assert.deepEqual(value, { a: ['e1', 'E2', 'no', '12:30', '2026-01-01'], '1e1': 'x', '10': 'y' });
  });
});
