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

  it('has the words of true, false and null as containerlab reads them, and names variables that no line can hold', async () => {
    const imported = importLab(
      `name: True
topology:
  nodes:
    r1:
      kind: linux
      image: a
      cmd: true
      env: {A: True, B: FALSE, C: true, D: ~, E: null, F: "null", G: .inf, H: 12:30, I: 2026-01-01, J: off, K: 123456789012345678901, L: "a\\nb", "M N": x, O: {p: q}, P: "x ", GNS3_Q: z}
`,
      'words.clab.yml',
    );
    const lab = await open(imported);
    const expected = ['A=True', 'B=FALSE', 'C=true', 'D=', 'E=', 'F=null', 'G=.inf', 'H=12:30', 'I=2026-01-01', 'J=off'];
    assert.equal(lab.nodes[0]?.properties.environment, [...expected, 'K=123456789012345678901'].join('\n'));
    assert.deepEqual([lab.name, lab.nodes[0]?.properties.start_command], ['True', 'true']);
    assert.deepEqual(
      reportOf(imported, 'r1').map((line) => line.split(':')[0]),
      ['env L', 'env M N', 'env O', 'env P', 'env GNS3_Q'],
    );
  });

  it('has the defaults of its variables, and names those without', async () => {
    const imported = importLab(
      `topology:
  nodes:
    r1: {kind: linux, image: "\${IMAGE:=alpine:3}", env: {A: "\${TAG:-x}\${TAG}", B: "\${LEFT}"}}
`,
      'variables.clab.yml',
    );
    const lab = await open(imported);
    assert.deepEqual([lab.nodes[0]?.short.image, lab.nodes[0]?.properties.environment], ['alpine:3', `A=x\${TAG}\nB=\${LEFT}`]);
    assert.deepEqual(reportOf(imported, '(lab)'), [
      'variable IMAGE: its default alpine:3',
      'variable TAG: it has no default, and stays in the text',
      'variable LEFT: it has no default, and stays in the text',
    ]);
  });

  it('has variables as containerlab reads them: in every text and key, with alternatives, escaped, and none in a hash', async () => {
    const imported = importLab(
      `# by \${AUTHOR}
name: \${LAB:-one}
topology:
  nodes:
    \${NODE:=r1}:
      kind: linux
      image: alpine:\${TAG=$FALLBACK}
      cmd: "sh -c 'echo $$HOME $\${X} $HOME \${DEBUG:+-v}'"
      env: {HASH: "$6$salt$Vj69F.QdM", COST: "5$", ESCAPED: "$$$$", N: \${N:-7}}
    r2: {kind: linux, image: x}
  links:
    - endpoints: ["\${NODE:=r1}:eth1", "r2:eth1"]
`,
      'variables.clab.yml',
    );
    const lab = await open(imported);
    const [node] = lab.nodes;
    assert.deepEqual([lab.name, node?.name, node?.short.image], ['one', 'r1', 'alpine:$FALLBACK']);
    assert.equal(node?.properties.start_command, `sh -c 'echo $HOME \${X} $HOME '`);
    assert.equal(node?.properties.environment, 'HASH=$6$salt$Vj69F.QdM\nCOST=5$\nESCAPED=$$\nN=7');
    assert.deepEqual(reportOf(imported, '(lab)'), [
      'variable LAB: its default one',
      'variable NODE: its default r1',
      'variable TAG: its default $FALLBACK',
      'variable FALLBACK: it has no default, and stays in the text',
      'variable HOME: it has no default, and stays in the text',
      'variable DEBUG: it has no value, which leaves "-v" out',
      'variable N: its default 7',
    ]);
  });

  it('has no image that it does not name: of the host, clusters, and containers of others', async () => {
    const imported = importLab(
      `topology:
  nodes:
    h: {kind: host, exec: [ip link]}
    k: {kind: k8s-kind, image: "kindest/node:v1.30"}
    k-control-plane: {kind: ext-container}
    Odd: {kind: Some/Kind}
    r: {kind: linux, image: a}
  links:
    - endpoints: ["h:veth7", "r:eth1"]
    - endpoints: ["k-control-plane:eth1", "r:eth2"]
    - endpoints: ["k:eth1", "r:eth3"]
`,
      'kinds.clab.yml',
    );
    const lab = await open(imported);
    assert.deepEqual(
      lab.nodes.map(({ name, kind, short }) => [name, kind, short.image]),
      [
        ['k-control-plane', 'docker', 'localhost/ext-container'],
        ['Odd', 'docker', 'localhost/some-kind'],
        ['r', 'docker', 'a'],
        ['host-veth7', 'cloud', undefined],
      ],
    );
    assert.deepEqual(linksOf(lab), ['host-veth7 r:eth1', 'k-control-plane:eth1 r:eth2']);
    assert.match(reportOf(imported, 'k-control-plane').join(), /its image: name it as image.*the container of another program/);
    assert.match(
      reportOf(imported, '(lab)').join('\n'),
      /^h: the host itself.*exec.*\nk: a Kubernetes cluster is no node; image\nthe link to k:eth1$/,
    );
  });

  it('hands its environment on to systemd where its kind does, and has no link of a node with itself', async () => {
    const imported = importLab(
      `topology:
  nodes:
    s1: {kind: ceos, image: a, env: {INTFTYPE: et, NOTE: "two words"}}
    s2: {kind: arista_ceos, image: a, cmd: /bin/sh}
  links:
    - endpoints: ["s1:eth1", "s1:eth2"]
`,
      'systemd.clab.yml',
    );
    const lab = await open(imported);
    const [s1, s2] = lab.nodes;
    assert.match(String(s1?.properties.start_command), /^\/sbin\/init systemd\.setenv=CEOS=1 .* systemd\.setenv=INTFTYPE=et$/);
    assert.match(String(s1?.properties.environment), /^INTFTYPE=et\nNOTE=two words$/m);
    assert.equal(s2?.properties.start_command, '/bin/sh');
    assert.deepEqual(linksOf(lab), []);
    assert.deepEqual(reportOf(imported, '(lab)'), ['link s1:eth1 - s1:eth2: it joins a node with itself']);
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

it('routers of EVE-NG have the memory of their platform where the file names none, and a chassis that is known', async () => {
  const node = (id: number, template: string, more = '') =>
    `<node id="${id}" name="R${id}" type="dynamips" template="${template}" image="x" ${more}/>`;
  const nodes = [node(1, 'c1710'), node(2, 'c3725', 'ram="256"'), node(3, 'c3640'), node(4, 'other'), node(5, 'c2621xm')].join('');
  const imported = importLab(`<lab name="x"><topology><nodes>${nodes}</nodes></topology></lab>`, 'x.unl');
  assert.deepEqual(
    (await open(imported)).nodes.map(({ short, properties }) => [short.memory, properties]),
    [
      [160, { platform: 'c1700' }],
      [256, { platform: 'c3725' }],
      [192, { platform: 'c3600', chassis: '3640' }],
      [512, { platform: 'c7200' }],
      [160, { platform: 'c2600', chassis: '2621XM' }],
    ],
  );
  assert.deepEqual(reportOf(imported, 'R1'), ['template c1710 is taken as a 1720', 'memory is 160 MiB']);
  assert.deepEqual(reportOf(imported, 'R2'), []);
  assert.deepEqual(reportOf(imported, 'R4')[0], 'template "other" is taken as a c7200');
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

it("netlab's output has words of Python in environments, and facts that it writes twice are named once", async () => {
  const imported = importLab(
    `name: x
provider: clab
nodes:
  r1:
    device: frr
    box: f
    clab: {kind: linux, binds: ["node_files/r1/daemons:/etc/frr/daemons:ro"], env: {A: true, B: false, C: null, D: 'yes', E: 1.0, F: '010', G: [a]}}
    interfaces:
    - {ifname: eth1, ipv4: 10.0.0.1/30, ipv6: true, vrf: red, mtu: 1500}
    - {ifname: eth2, ipv4: True}
    routing: {static: [{ipv4: 10.9.0.0/16, nexthop: {intf: eth1}}]}
  s1: {device: iosv, box: i, interfaces: [{ifname: eth1, ipv4: 10.0.0.2/30}]}
links:
- interfaces: [{node: r1, ifname: eth1, ipv4: 10.0.0.1/30, vrf: red, mtu: 9000}, {node: s1, ifname: eth1, ipv4: 10.0.0.2/30}]
`,
    'x.yml',
  );
  const files = filesOf({ 'node_files/r1/daemons': 'bgpd=yes' });
  const [r1] = (await loadLab({ text: imported.text, file: 'lab.yaml', files })).nodes;
  assert.equal(r1?.files.get('etc/frr/daemons'), 'bgpd=yes');
  assert.equal(r1?.properties.environment, 'A=True\nB=False\nC=None\nD=yes\nE=1.0\nF=010');
  assert.match(
    String(r1?.files.get('etc/network/interfaces')),
    /^auto eth1\niface eth1 inet manual\n {2}up ip link set eth1 up\n {2}up ip address add 10\.0\.0\.1\/30 dev eth1\n$/,
  );
  const keys = (name: string) => reportOf(imported, name).map((line) => line.split(':')[0]);
  assert.deepEqual(keys('r1'), [
    'env G',
    'interfaces[0].ipv6',
    'interfaces[0].vrf',
    'interfaces[0].mtu',
    'interfaces[1].ipv4',
    'routing.static[0].nexthop',
  ]);
  assert.ok(keys('s1').includes('interfaces'), 'a machine takes no addresses');
  assert.deepEqual(reportOf(imported, '(lab)'), ['links[0].interfaces[0].mtu'], 'which differs from that of the node');
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

it('modules of EVE-NG for which a router has no place are named, as are links that would end at their ports', async () => {
  const port = (name: string, network: number) => `<interface id="0" name="${name}" type="ethernet" network_id="${network}"/>`;
  const serial = (remote: number) => `<interface id="32" name="s2/0" type="serial" remote_id="${remote}" remote_if="32"/>`;
  const router = (id: number, template: string, slots: string, ports: string) =>
    `<node id="${id}" name="R${id}" type="dynamips" template="${template}" image="x" ram="256" ${slots}>${ports}</node>`;
  const nodes = [
    router(1, 'c3725', 'slot1="NM-1FE-TX" slot2="PA-4E" slot5="NM-1FE-TX"', port('fa1/0', 1) + port('fa5/0', 2) + serial(2)),
    router(2, 'c7200', 'slot0="C7200-IO-2FE" slot1="PA-BOGUS" slot2="PA-8T"', port('fa0/1', 1) + port('fa1/0', 2) + serial(1)),
    router(3, 'c1720', 'slot1="NM-4T"', port('e0', 2)),
    `<node id="4" name="I" type="iol" image="l3.bin">${port('e16/0', 2)}${port('e1/3', 3)}</node>`,
    `<node id="5" name="D" type="docker" image="a"><interface id="400" name="x" network_id="3"/></node>`,
  ];
  const networks = [1, 2, 3].map((id) => `<network id="${id}" type="bridge" name="N${id}"/>`);
  const imported = importLab(
    `<lab name="x"><topology><nodes>${nodes.join('')}</nodes><networks>${networks.join('')}</networks></topology></lab>`,
    'x.unl',
  );
  const lab = await open(imported);
  assert.deepEqual(linksOf(lab), ['R1:1/0 R2:0/1', 'R3:0/0 N2', 'I:1/3 N3']);
  const [one, two, three] = lab.nodes;
  assert.deepEqual(one?.properties, { platform: 'c3725', slot1: 'NM-1FE-TX' });
  assert.deepEqual(two?.properties, { platform: 'c7200', slot0: 'C7200-IO-2FE', slot2: 'PA-8T' });
  assert.deepEqual(three?.properties, { platform: 'c1700', chassis: '1720' });
  assert.deepEqual(reportOf(imported, 'R1'), [
    'slot2 PA-4E: a c3725 has no place for it',
    'slot5 NM-1FE-TX: a c3725 has no place for it',
    'the link of interface fa5/0: it has no port 5/0',
    'the link of interface s2/0: it has no port 2/0',
  ]);
  assert.deepEqual(reportOf(imported, 'R2'), [
    'slot1 PA-BOGUS: a c7200 has no place for it',
    'the link of interface fa1/0: it has no port 1/0',
  ]);
  assert.deepEqual(reportOf(imported, 'I'), ['the link of interface e16/0: it has no port 16/0']);
  assert.deepEqual(reportOf(imported, 'D'), ['the link of interface x: it has no port 400/0']);
  assert.deepEqual(reportOf(imported, '(lab)'), ['the serial link of R2:2/0: nothing is at its other end']);
});

it('nodes of EVE-NG and CML without a place are laid out, and percents are places', async () => {
  const node = (id: number, more: string) =>
    `<node id="${id}" name="N${id}" type="vpcs" template="vpcs" ${more}><interface id="0" name="eth0" network_id="1"/></node>`;
  const eve = importLab(
    `<lab name="x"><topology><nodes>${node(1, '')}${node(2, 'left="25%" top="50%"')}${node(3, 'left="-7"')}</nodes>
<networks><network id="1" type="pnet0" name="Out"/></networks></topology></lab>`,
    'x.unl',
  );
  const cml = importLab(
    'lab: {title: x}\nnodes: [{id: a, label: A, node_definition: iosv}, {id: b, label: B, node_definition: iosv, x: 3.4, y: -2}]\n',
    'x.yaml',
  );
  const places = async (lab: ImportedLab) => (await open(lab)).nodes.map(({ fields: { x, y } }) => [x, y]);
  const free = [undefined, undefined];
  assert.deepEqual(await places(eve), [free, [300, 400], [-7, 0], free, free]);
  assert.deepEqual(await places(cml), [free, [3, -2]]);
  assert.deepEqual(reportOf(eve, 'N2'), []);
});

it('configurations of machines of EVE-NG are on their config disk, under the name that their system reads', async () => {
  const templates = ['vios', 'csr1000vng', 'xrv9k', 'nxosv9k', 'asav', 'vsrxng', 'mikrotik'];
  const nodes = templates.map((template, id) => `<node id="${id}" name="M${id}" type="qemu" template="${template}" config="1"/>`);
  const configs = templates.map((_, id) => `<config id="${id}">${Buffer.from(`hostname M${id}\n`).toString('base64')}</config>`);
  const imported = importLab(
    `<lab name="x"><topology><nodes>${nodes.join('')}</nodes></topology><objects><configs>${configs.join('')}</configs></objects></lab>`,
    'x.unl',
  );
  assert.deepEqual(
    (await open(imported)).nodes.map(({ files }) => [...files]),
    [
      'ios_config.txt',
      'iosxe_config.txt',
      'iosxr_config.txt',
      'nxos_config.txt',
      'day0-config',
      'juniper.conf',
      'startup-config.cfg',
    ].map((name, id) => [[`config/${name}`, `hostname M${id}\n`]]),
  );
  assert.match(reportOf(imported, 'M0').join(), /its start-up configuration is config\/ios_config\.txt on its config disk/);
});

it('interfaces of machines of containerlab that have names of their system are the adapters that its container counts', async () => {
  const ports = [
    ['juniper_vmx', 'ge-0/0/0', 1],
    ['juniper_vjunosevolved', 'et-0/0/3', 4],
    ['cisco_xrv9k', 'Gi0/0/0/2', 3],
    ['cisco_csr1000v', 'GigabitEthernet2', 1],
    ['cisco_n9kv', 'Ethernet1/5', 5],
    ['nokia_sros', '1/1/c4/1', 4],
    ['mikrotik_ros', 'ether3', 2],
    ['cisco_asav', 'GigabitEthernet0/0', 1],
    ['fortinet_fortigate', 'port4', 3],
    ['nokia_sros', 'eth6', 6],
    ['juniper_vsrx', 'fxp', undefined],
  ] as const;
  const imported = importLab(
    JSON.stringify({
      topology: {
        nodes: Object.fromEntries([
          ...ports.map(([kind], index) => [`m${index}`, { kind, image: 'x' }]),
          ['b', { kind: 'bridge' }],
        ]),
        links: ports.map(([, port], index) => ({ endpoints: [`m${index}:${port}`, `b:p${index}`] })),
      },
    }),
    'x.clab.yml',
  );
  const expected = ports.map(([, , adapter], index) => `m${index}${adapter === undefined ? '' : `:${adapter}/0`} b`);
  assert.deepEqual(linksOf(await open(imported)), expected);
  for (const [index, [, port, adapter]] of ports.entries()) {
    const said = reportOf(imported, `m${index}`).some((line) => line.startsWith(`${port} is `));
    assert.equal(said, port !== `eth${adapter}`, port);
  }
});

it('routers of IOL in labs of CML are IOU nodes with their configuration and ports', async () => {
  const imported = importLab(
    `lab: {title: x}
nodes:
  - {id: n0, label: r, node_definition: iol-xe, image_definition: iol-xe-17-12-01, ram: 768, configuration: "hostname r",
     interfaces: [{id: i0, type: physical, slot: 0}, {id: i1, type: physical, slot: 6}]}
  - {id: n1, label: s, node_definition: ioll2-xe, configuration: [{name: ios_config.txt, content: "hostname s"}, {name: vlan.dat, content: v}],
     interfaces: [{id: i0, type: physical, slot: 3}]}
links: [{id: l0, n1: n0, i1: i1, n2: n1, i2: i0}]
`,
    'x.yaml',
  );
  const lab = await open(imported);
  assert.deepEqual(linksOf(lab), ['r:1/2 s:0/3']);
  assert.deepEqual(
    lab.nodes.map(({ kind, short, config, properties }) => [kind, short.image, short.memory, config, properties.ethernet_adapters]),
    [
      ['iou', 'iol-xe-17-12-01', 768, 'hostname r', 2],
      ['iou', 'ioll2-xe', undefined, 'hostname s', 1],
    ],
  );
  assert.match(reportOf(imported, 's').join(), /its program.*a part of its configuration: a router has one file/);
});

it("ports of netlab's output whose names are of a system follow from their numbers, and what vrnetlab wraps is a machine", async () => {
  const imported = importLab(
    `name: x
provider: clab
nodes:
  m: {device: vmx, box: "vrnetlab/vmx:20", clab: {kind: juniper_vmx}, interfaces: [{ifname: ge-0/0/0, ifindex: 1, clab: {name: eth1}}]}
  s: {device: eos, box: "ceos:4", clab: {kind: ceos}, interfaces: [{ifname: Ethernet1, ifindex: 1}, {ifname: Ethernet2, ifindex: 2}]}
  v: {device: iosv, box: cisco/iosv, provider: libvirt, interfaces: [{ifname: GigabitEthernet0/1, ifindex: 1}]}
links:
- interfaces: [{node: m, ifname: ge-0/0/0, ifindex: 1}, {node: s, ifname: Ethernet1, ifindex: 1}]
- interfaces: [{node: s, ifname: Ethernet2}, {node: v, ifname: GigabitEthernet0/1, ifindex: 1}]
`,
    'x.yml',
  );
  const lab = await open(imported);
  assert.deepEqual(linksOf(lab), ['m:1/0 s:eth1', 's:eth2 v:1/0']);
  assert.deepEqual(
    lab.nodes.map(({ kind, short }) => `${kind} ${short.image}`),
    ['qemu vmx.qcow2', 'docker ceos:4', 'qemu cisco-iosv.qcow2'],
  );
  assert.deepEqual(reportOf(imported, 's'), ['Ethernet1 is eth1', 'Ethernet2 is eth2']);
  assert.match(reportOf(imported, 'm').join(), /ge-0\/0\/0 is 1\/0.*its disk of vrnetlab\/vmx:20/);
});

it('nodes without a name have one of their id, and a topology in JSON of one line is one of containerlab', async () => {
  const cml = importLab('nodes: [{id: n7, label: "", node_definition: iosv}]\n', 'x.yaml');
  const eve = importLab('<lab name="x"><topology><nodes><node id="3" name="" type="vpcs"/></nodes></topology></lab>', 'x.unl');
  const clab = importLab('{"name":"j","topology":{"nodes":{"a":{"kind":"linux","image":"x"}}}}', 'x.clab.json');
  const names = await Promise.all([cml, eve, clab].map(async (lab) => (await open(lab)).nodes.map(({ name }) => name)));
  assert.deepEqual(names, [['n7'], ['node-3'], ['a']]);
});
