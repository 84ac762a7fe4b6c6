/** Labs of other programs, written here in the shape of theirs: what becomes of them, and what hostile ones do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lab } from '../file/lab.ts';
import { filesOf } from '../file/lab-files.ts';
import { loadLab } from '../file/load-lab.ts';
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
    assert.deepEqual(reportOf(imported, 'r1')?.missing, ['bind /lib/modules:/lib/modules', 'exec', 'mtu of a link']);
    assert.deepEqual(reportOf(imported, 'leaf')?.changed, ['e1-1 is eth1', 'e1-2 is eth2']);
    assert.match(reportOf(imported, 'old')?.missing.join() ?? '', /its disk/);
    assert.deepEqual(reportOf(imported, 'sw')?.missing, ['link of type dummy', 'mtu of a link']);
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
    assert.match(kindsOf(lab).r2 ?? '', /^docker \$\{IMAGE:=alpine:3\}$/);
    const missing = reportOf(imported, 'r2')?.missing.join() ?? '';
    for (const key of ['stages', 'healthcheck', 'network-mode', 'dns', 'env-files', 'certificate'])
      assert.match(missing, new RegExp(key));
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
    assert.deepEqual(linksOf(read), ['R-1:0/0 VPC', 'R-1:2/0 Out', 'IOL Out', 'D:0/0 Out', 'Out Out-out']);
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
    assert.equal(reportOf(imported, 'rtr-1')?.missing.length, 2);
    assert.equal(lab.nodes.find(({ name }) => name === 'xe')?.files.get('config/iosxe_config.txt'), `hostname \${x}\n`);
    assert.deepEqual(reportOf(imported, '(lab)')?.missing, [
      'conditions of the link l0: reorder_prob',
      'annotation of type rectangle',
      'smart annotations: core',
    ]);
  });
});

describe("netlab's output", () => {
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
