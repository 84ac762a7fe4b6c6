/** Labs as files: planned, applied, exported and changed on a real server; a second plan is empty, an export applies to the same thing. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Compile } from 'typebox/compile';
import { planApply } from '../../cli/mcp/plan-apply.ts';
import { TextOutput } from '../../cli/mcp/text-output.ts';
import { ServerClient } from '../../cli/server-client.ts';
import { applyPlan } from '../../lab/apply.ts';
import { exportFrom } from '../../lab/export.ts';
import type { Lab } from '../../lab/file/lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { planOn } from '../../lab/open-lab.ts';
import { driftOf, linesOf } from '../../lab/plan/lab-plan.ts';
import { getProject } from '../../lab/state/lab-state.ts';
import { implementedTypes } from '../../src/emulators/kinds.ts';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Link, MirrorOfLink } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import type { ScheduleOfLink } from '../../src/schema/schedule.ts';
import type { TSchema } from '../../src/schema/type.ts';
import { sampleTexts } from '../../web/dialogs/sample-texts.ts';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { freshName, withServer } from '../support/with-server.ts';

const { client, server } = await withServer();
const api = new ServerClient({ url: server.url });

const load = (text: string, name: string): Promise<Lab> => loadLab({ text, file: `${name}.yaml`, files: filesOf({}) });
/** Signs of a plan's actions: `+ node R1`, `~ link … (filters)`. */
const signs = { create: '+', update: '~', replace: '!', delete: '-' } as const;
async function plan(lab: Lab): Promise<string[]> {
  return linesOf(await planOn(api, lab)).map(({ action, what, name, changes, restart }) => {
    const fields = action === 'update' || action === 'replace' ? ` (${changes.map(({ field }) => field).join(' ')})` : '';
    return `${signs[action]} ${what} ${name}${fields}${restart ? ' restart' : ''}`;
  });
}
const apply = async (lab: Lab, start = false): Promise<Project> => applyPlan(api, lab, await planOn(api, lab), { start });
const list = <T>({ project_id }: Project, what: string): Promise<T[]> => client.get<T[]>(`/v2/projects/${project_id}/${what}`);

/** Everything that a file can say, with every kind of node. */
const everything = `
project: {show_grid: true, scene_width: 3000, variables: [{name: A, value: "$\${x}"}]}
nodes:
  PC[1-3]: {kind: vpcs, config: "set pcname %h\\nip 10.0.0.\${index}/24\\n"}
  IDS: {kind: vpcs}
  SW: {kind: ethernet_switch, vlans: {Ethernet0: 10, Ethernet6: qinq 5 0x88A8, Ethernet7: trunk 4}}
  SW2: {kind: ethernet_switch, ports: 3, locked: true}
  VM:
    kind: qemu
    memory: 64M
    z: 4
    label: {x: 3, y: 4, style: "font-size: 20;"}
    custom_adapters: [{adapter_number: 0, mac_address: '0C:11:22:33:44:55', port_name: mgmt}]
    port_name_format: Gi{segment0}/{port0}
    port_segment_size: 2
    properties: {boot_priority: n, options: -nodefaults, mac_address: '0C:AA:BB:CC:DD:00', kernel_command_line: "a $\${b}"}
    files: {config/user-data: "#cloud-config\\nhostname: \${node}\\n", config/meta-data: "instance-id: \${node}\\n"}
  NAT: {kind: nat}
  C: {kind: cloud, properties: {ports_mapping: [{name: t, port_number: 0, type: udp, lport: 20300, rhost: 127.0.0.1, rport: 20301}]}}
  H: {kind: ethernet_hub, ports: 12, symbol: ':/symbols/hub.svg'}
  FR: {kind: frame_relay_switch, properties: {mappings: {'1:101': '2:202'}}}
  ATM: {kind: atm_switch, properties: {mappings: {'1:0:100': '2:0:200'}}}
  T: {template: VPCS}
  R: {kind: dynamips, image: c3725.image, memory: 128, config: "hostname %h\\n", properties: {platform: c3725}}
  I: {kind: iou, image: l3.bin, properties: {ethernet_adapters: 1, serial_adapters: 1}}
  VB: {kind: virtualbox, properties: {vmname: box, linked_clone: false}}
  VW: {kind: vmware, properties: {vmx_path: /vm/a.vmx, linked_clone: false}}
  TR: {kind: traceng}
links:
  - ['PC[1-3]', SW]
  - {ends: [SW:Ethernet7, VM], filters: {delay: 20ms 5ms, ab: {loss: 1%}, bpf: "icmp and host 10.0.0.1"}}
  - {ends: [SW2, VM:Gi0/1], suspend: true, style: {color: "#ff0000"}}
  - {ends: [{node: SW2, label: {text: here, x: 1, y: 2}}, H]}
  - ends: [H, SW2]
    mirror: IDS
    schedule:
      duration: 60s
      repeat: forever
      steps:
        - {at: 10s, filters: {delay: 50ms 5ms, ab: {loss: 2%}, rate: 0}, ramp: 1500}
        - {at: 30s, flap: {down: 500ms, up: 2s, count: 5}}
        - {at: 50s, filters: {delay: []}, suspend: true}
      traces: [{direction: ba, length: 20s, samples: [[0, 1000, null, 0.5], [10000, null, 20, null]]}]
  - [NAT, H]
  - [T, H]
drawings:
  - {text: "A & B", x: 3}
  - {text: "A & B", x: 300, rotation: 20, locked: true}
  - {rectangle: [300, 200], x: -100, y: -100, fill: '#eeeeee'}
`;

describe('a lab of all kinds', () => {
  it('is applied with few requests, and then there is nothing to do', async () => {
    const lab = await load(everything, freshName('all'));
    const before = await plan(lab);
    assert.equal(before.filter((line) => line.startsWith('+ node')).length, 18);
    assert.ok(
      before.includes('+ link VM:Gi0/1 - SW2:(first free)') || before.includes('+ link SW2:(first free) - VM:Gi0/1'),
      before.join('\n'),
    );
    const project = await apply(lab);
    assert.deepEqual(await plan(lab), []);
    const nodes = await list<Node>(project, 'nodes');
    assert.equal(nodes.length, 18);
    // Containers need an engine: test/lab/dns-satellite.test.ts.
    assert.deepEqual(new Set([...nodes.map(({ node_type }) => node_type), 'docker']), new Set<string>(implementedTypes));
    const vm = nodes.find(({ name }) => name === 'VM');
    assert.ok(vm);
    assert.equal(vm.properties.create_config_disk, true);
    assert.deepEqual(
      vm.ports.map(({ name }) => name),
      ['mgmt', 'Gi0/1'],
    );
  });

  it('is exported to a file that applies to the same thing', async () => {
    const first = await apply(await load(everything, freshName('all')));
    const text = await exportFrom(api, first);
    const again = await load(text, 'x');
    assert.deepEqual(await plan(again), []);
    const copy = { ...again, name: freshName('copy') };
    const second = await apply(copy);
    assert.deepEqual(await plan(copy), []);
    assert.deepEqual(await contents(second), await contents(first));
    assert.equal((await exportFrom(api, second)).replace(copy.name, again.name), text);
    assert.match(text, /config\/user-data: \|\n +#cloud-config\n +hostname: VM\n/);
  });
});

/** All that clients see of a project, without what is a number or an address of its own. */
async function contents(project: Project): Promise<unknown> {
  const [schedules, nodes, links, mirrors, drawings] = await Promise.all([
    list<ScheduleOfLink>(project, 'link_schedules'),
    list<Node>(project, 'nodes'),
    list<Link>(project, 'links'),
    list<MirrorOfLink>(project, 'mirrors'),
    list<Drawing>(project, 'drawings'),
  ]);
  const nameOf = new Map(nodes.map(({ node_id, name }) => [node_id, name]));
  const own = ['node_id', 'project_id', 'console', 'node_directory', 'command_line'];
  const generated = ['dynamips_id', 'application_id', 'aux', 'interfaces', 'mac_addr'];
  const without = (value: object, keys: readonly string[]) =>
    Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
  return {
    nodes: nodes.map((node) => ({ ...without(node, own), properties: without(node.properties, generated) })),
    links: links.map(({ link_id, project_id: _project, nodes: ends, ...link }) => ({
      ...link,
      schedule: without(schedules.find((one) => one.link_id === link_id)?.schedule ?? {}, ['started_at']),
      ends: ends.map(({ node_id, ...end }) => ({ ...end, node: nameOf.get(node_id) })),
    })),
    mirrors: mirrors.map(({ link_id, node_id, ...port }) => ({
      ...port,
      node: nameOf.get(node_id),
      link: links.findIndex((link) => link.link_id === link_id),
    })),
    drawings: drawings.map(({ drawing_id: _id, project_id: _project, ...drawing }) => drawing),
    project: without(project, ['project_id', 'name', 'path', 'filename']),
  };
}

describe('a changed file', () => {
  it('changes what differs and nothing else', async () => {
    const name = freshName('changed');
    const before = await load(
      'nodes:\n  PC[1-4]: {kind: vpcs}\n  SW: {kind: ethernet_switch}\nlinks:\n  - ["PC[1-4]", SW]\ndrawings:\n  - {text: a}',
      name,
    );
    const project = await apply(before);
    const links = await list<Link>(project, 'links');
    const changed = await load(
      `nodes:
  PC[2-5]: {kind: vpcs}
  SW: {kind: ethernet_switch, vlans: {Ethernet1: 20}, x: 500}
links:
  - [PC5, SW]
  - {ends: [SW, PC2], filters: {delay: 5ms, ab: {loss: 2}}}
  - [PC4, SW]
drawings:
  - {text: a, x: 7}
  - {text: b}`,
      name,
    );
    assert.deepEqual(await plan(changed), [
      '- node PC1',
      '~ node SW (x properties.ports_mapping)',
      '+ node PC5',
      '- link PC3:Ethernet0 - SW:Ethernet2',
      '+ link PC5:(first free) - SW:Ethernet0',
      '~ link SW:Ethernet1 - PC2:Ethernet0 (filters)',
      '~ drawing "a" at 7,0 (x)',
      '+ drawing "b" at 0,0',
    ]);
    await apply(changed);
    assert.deepEqual(await plan(changed), []);
    const now = await list<Link>(project, 'links');
    // The present links kept their ids and their order of ends: what is `ab` in the file is `ba` there.
    const kept = now.find(({ link_id }) => link_id === links[1]?.link_id);
    assert.deepEqual(kept?.filters, { delay: [5], packet_loss_ba: [2] });
    assert.equal(now.length, 3);
  });

  it('mirrors links to other ports, which are free then', async () => {
    const name = freshName('mirrors');
    const nodes = 'nodes:\n  PC[1-3]: {kind: vpcs}\n  VM: {kind: qemu, memory: 16}\n  SW: {kind: ethernet_hub}\nlinks:\n';
    const lab = (links: string) => load(nodes + links, name);
    const before = await lab('  - {ends: [PC1, SW], mirror: VM}\n  - {ends: [PC2, SW], mirror: VM:Ethernet0}\n');
    const project = await apply(before);
    assert.deepEqual(await plan(before), []);
    const mirrors = await list<MirrorOfLink>(project, 'mirrors');
    assert.deepEqual(
      mirrors.map(({ adapter_number }) => adapter_number),
      [1, 0],
    );
    // The two exchange their ports, and a third link takes the place of a mirror that goes.
    const changed = await lab('  - {ends: [PC1, SW], mirror: VM:Ethernet0}\n  - [PC2, SW]\n  - [PC3, VM:Ethernet1]\n');
    assert.deepEqual(await plan(changed), [
      '~ link PC1:Ethernet0 - SW:Ethernet0 (mirror)',
      '~ link PC2:Ethernet0 - SW:Ethernet1 (mirror)',
      '+ link PC3:Ethernet0 - VM:Ethernet1',
    ]);
    const [, drift] = driftOf(await planOn(api, changed));
    assert.deepEqual(drift?.changes, [{ field: 'mirror', project: 'VM:Ethernet0', file: undefined }]);
    await apply(changed);
    assert.deepEqual(await plan(changed), []);
    assert.match(await exportFrom(api, project), /mirror: VM:Ethernet0/);
    await assert.rejects(
      lab('  - {ends: ["PC[1-2]", SW], mirror: VM}\n'),
      /^LabError: .*:6:5: 2 links cannot be mirrored to 1 ports: each needs one of its own/,
    );
    await assert.rejects(lab('  - {ends: [PC1, SW], mirror: MV}\n'), /no node "MV"/);
    const twice = await lab('  - {ends: [PC1, SW], mirror: VM:Ethernet0}\n  - [PC3, VM:Ethernet0]\n');
    await assert.rejects(planOn(api, twice), /two links end at port Ethernet0 of VM/);
    await assert.rejects(
      planOn(api, await lab('  - [PC1, SW]\n  - {ends: [PC2, VM], mirror: SW}\n')),
      /^LabError: .*:7:5: frames cannot be mirrored to SW, which is of kind .*\. Choose a machine or a container/,
    );
  });

  it('a disk image is attached unless the file says otherwise, and after an export as before', async () => {
    await client.send('POST /v2/compute/qemu/images/a.img', { raw: Buffer.alloc(65_536) });
    const off = '{kind: qemu, image: a.img, properties: {hda_disk_interface: none}}';
    const lab = await load(`nodes:\n  VM: {kind: qemu, image: a.img}\n  Bare: {kind: qemu}\n  Off: ${off}`, freshName('image'));
    const busesOf = async (project: Project) =>
      (await list<Node>(project, 'nodes')).map(({ name, properties }) => `${name} ${properties.hda_disk_interface}`).toSorted();
    const project = await apply(lab);
    assert.deepEqual(await busesOf(project), ['Bare none', 'Off none', 'VM ide']);
    const copy = { ...(await load(await exportFrom(api, project), 'x')), name: freshName('image') };
    assert.deepEqual(await busesOf(await apply(copy)), ['Bare none', 'Off none', 'VM ide']);
  });

  it('shows as drift what someone changed in the project, and applying reverts it', async () => {
    const lab = await load(
      'nodes:\n  PC[1-2]: {kind: vpcs, x: 5}\nlinks:\n  - {ends: [PC1, PC2], filters: {delay: 5}}',
      freshName('drift'),
    );
    const project = await apply(lab);
    const path = `/v2/projects/${project.project_id}`;
    const [[link], [pc]] = await Promise.all([list<Link>(project, 'links'), list<Node>(project, 'nodes')]);
    await client.put(`${path}/links/${link?.link_id}`, { filters: { latency: [9] } }, 201);
    await client.put(`${path}/nodes/${pc?.node_id}`, { x: 77, y: 78 });
    await client.post(`${path}/nodes`, { name: 'Extra', node_type: 'vpcs', compute_id: 'local' });
    assert.deepEqual(driftOf(await planOn(api, lab)), [
      { what: 'node', drift: 'extra', name: 'Extra', changes: [] },
      { what: 'node', drift: 'changed', name: pc?.name, changes: [{ field: 'x', project: 77, file: 5 }] },
      {
        what: 'link',
        drift: 'changed',
        name: 'PC1:Ethernet0 - PC2:Ethernet0',
        changes: [{ field: 'filters', project: { latency: [9] }, file: { delay: [5] } }],
      },
    ]);
    await apply(lab);
    assert.deepEqual(await plan(lab), []);
  });

  it('schedules are set, changed and removed; one that is as in the file continues', async () => {
    const name = freshName('schedule');
    const files = { 'traces/lte.csv': 'time_s,rate_mbps,delay_ms\n0,10,20\n5,1,80\n' };
    const lab = (ends: string, schedule: string) =>
      loadLab({
        text: `nodes:\n  A: {kind: vpcs}\n  B: {kind: vpcs}\nlinks:\n  - {ends: ${ends}${schedule}}`,
        file: `${name}.yaml`,
        files: filesOf(files),
      });
    const scheduled = ', schedule: {steps: [{at: 1s, filters: {ab: {loss: 3%}}}], traces: [{file: traces/lte.csv, direction: ab}]}';
    const project = await apply(await lab('[A, B]', scheduled));
    const schedules = () => list<ScheduleOfLink>(project, 'link_schedules');
    const [first] = await schedules();
    assert.deepEqual(first?.schedule.steps, [{ at: 1000, filters: { packet_loss_ab: [3] } }]);
    assert.deepEqual(first?.schedule.traces[0]?.samples, [
      [0, 10_000, 20, null],
      [5000, 1000, 80, null],
    ]);
    assert.deepEqual(await plan(await lab('[A, B]', scheduled)), []);
    // Swapped ends swap the directions as well.
    const turned = scheduled.replaceAll('ab: {', 'ba: {').replace('direction: ab', 'direction: ba');
    assert.deepEqual(await plan(await lab('[B, A]', turned)), []);
    assert.deepEqual(await schedules(), [first]);
    const other = await lab('[B, A]', scheduled);
    assert.match((await plan(other)).join(), /^~ link .* \(schedule\)$/);
    await apply(other);
    assert.deepEqual((await schedules())[0]?.schedule.steps, [{ at: 1000, filters: { packet_loss_ba: [3] } }]);
    const none = await lab('[A, B]', '');
    await apply(none);
    assert.deepEqual([await schedules(), await plan(none)], [[], []]);
    const refused = async (schedule: string, says: RegExp) =>
      assert.rejects(lab('[A, B]', `, schedule: {${schedule}}`), (error: Error) => assert.match(error.message, says) === undefined);
    await refused('repeat: forever, steps: [{at: 0}]', /yaml:5:.* schedule: a schedule that repeats needs a duration/);
    await refused('steps: [{at: 5 parsec}]', /schedule: "5 parsec" has the unknown unit "parsec"/);
    await refused('steps: [{at: 1s, filters: {latency: 5ms}}]', /filter latency cannot be scheduled/);
    await refused('traces: [{file: no.csv}]', /the file no\.csv was not sent/);
    await refused('traces: [{file: ../no.csv}]', /outside of the folder/);
    await refused('', /it has neither steps nor traces/);
  });

  it('a plan names a long trace by its length and checksum, for each link of a range', async () => {
    const samples = (rate: number) => Array.from({ length: 3000 }, (_, second) => `${second},${rate + (second % 7)}`).join('\n');
    const linesWith = async (name: string, rate: number) => {
      const text =
        'nodes: {"A[1-40]": {kind: vpcs}, "B[1-40]": {kind: vpcs}}\nlinks:\n  - {ends: ["A[1-40]", "B[1-40]"], schedule: {traces: [{file: t.csv}]}}';
      const files = filesOf({ 't.csv': `time_s,rate_mbps\n${samples(rate)}\n` });
      return linesOf(await planOn(api, await loadLab({ text, file: `${name}.yaml`, files })));
    };
    const shown = JSON.stringify(await linesWith(freshName('trace'), 10));
    assert.ok(shown.length < 40_000, `${shown.length} characters`);
    assert.match(shown, /"samples":"3000 samples, sha256 [0-9a-f]{12}…"/);
    assert.notEqual(
      shown.match(/sha256 \w+/)?.[0],
      JSON.stringify(await linesWith(freshName('trace'), 11)).match(/sha256 \w+/)?.[0],
    );
  });

  it('an apply of an agent that is cancelled before its project exists can be undone, without projects of others', async () => {
    const name = freshName('cancelled');
    const cancelling = new AbortController();
    const { signal } = cancelling;
    const caller = new ServerClient({ url: server.url }, signal);
    const labText = `name: ${name}\nnodes: {A: {kind: vpcs}}\n`;
    const call = { args: [], rest: [], labText, options: {}, api: caller, out: new TextOutput(), signal };
    const { make } = await planApply(call, 'agent');
    cancelling.abort();
    const { isError, undo } = await make();
    assert.equal(isError, true);
    assert.match((await undo?.run()) ?? '', /There is no project cancelled-\d+ that the call has made nodes in/);
    const other = await api.json<Project>('POST', '/v2/projects', { name });
    await undo?.run();
    assert.equal((await api.json<Project>('GET', `/v2/projects/${other.project_id}`)).name, name);
  });

  it('restarts a running node only where it must', async () => {
    const name = freshName('running');
    const lab = (more: string, config: string) =>
      load(`nodes:\n  PC1: {kind: vpcs, config: "${config}"${more}}\n  PC2: {kind: vpcs}\nlinks:\n  - [PC1, PC2]`, name);
    const project = await apply(await lab('', 'ip 10.0.0.1'), true);
    const started = await list<Node>(project, 'nodes');
    assert.deepEqual(
      started.map(({ status }) => status),
      ['started', 'started'],
    );
    assert.deepEqual(await plan(await lab(', x: 9', 'ip 10.0.0.1')), ['~ node PC1 (x)']);
    const changed = await lab(', x: 9', 'ip 10.0.0.9');
    assert.deepEqual(await plan(changed), ['~ node PC1 (x files.startup.vpc) restart']);
    await apply(changed);
    const [pc1, pc2] = await list<Node>(project, 'nodes');
    assert.deepEqual([pc1?.status, pc1?.x, pc2?.status], ['started', 9, 'started']);
    assert.equal(await api.text(`/v2/projects/${project.project_id}/nodes/${pc1?.node_id}/files/startup.vpc`), 'ip 10.0.0.9');
    await client.post(`/v2/projects/${project.project_id}/close`, {}, 204);
    await assert.rejects(planOn(api, changed), /is closed.*open it/);
  });

  it('makes nodes anew that change their kind, with their links, and gives more ports when links need them', async () => {
    const name = freshName('kinds');
    await apply(
      await load(
        'nodes:\n  A: {kind: vpcs, locked: true}\n  S: {kind: ethernet_switch}\n  VM: {kind: qemu, memory: 16}\nlinks:\n  - [A, S]\n  - [VM, S]',
        name,
      ),
    );
    const changed = await load(
      'nodes:\n  A: {kind: ethernet_hub}\n  S: {kind: ethernet_switch}\n  VM: {kind: qemu, memory: 16}\nlinks:\n  - [A, S]\n  - [VM, S]\n  - [VM, S:Ethernet11]',
      name,
    );
    assert.deepEqual(await plan(changed), [
      '! node A (kind)',
      '~ node S (properties.ports_mapping)',
      '~ node VM (properties.adapters)',
      '+ link A:(first free) - S:Ethernet0',
      '+ link VM:(first free) - S:Ethernet11',
    ]);
    await apply(changed);
    assert.deepEqual(await plan(changed), []);
  });

  it('is refused with its place when the server lacks what it names', async () => {
    const refused = async (text: string, says: RegExp) =>
      assert.rejects(
        load(text, 'lab').then((lab) => planOn(api, lab)),
        (error: Error) => assert.match(error.message, says) === undefined,
      );
    await refused('nodes:\n  A: {template: VPSC}', /^lab.yaml:2:3: this server has no template "VPSC". Did you mean "VPCS"\?/);
    await refused('nodes:\n  A: {kind: vpcs, compute: far}', /no compute "far"/);
    await refused('nodes:\n  A: {kind: vpcs, image: x}', /VPCS nodes take no image/);
    await refused('nodes:\n  A: {kind: docker}', /^lab.yaml:2:3: Docker nodes need image. Add it to node A/);
    const router = 'kind: dynamips, image: x, properties: {platform: c3725}';
    await refused(`nodes:\n  A: {${router}}`, /nodes need memory. Add it to node A/);
    await refused('nodes:\n  A: {kind: dynamips, image: x, memory: 128}', /nodes need properties.platform/);
    await refused('nodes:\n  A: {kind: qemu, config: x}', /QEMU VM nodes take no `config`/);
    await refused('nodes:\n  A: {kind: qemu, properties: {rum: 4}}', /no property "rum". Did you mean "ram"/);
    await refused('nodes:\n  A: {kind: qemu, properties: {ram: lots}}', /node A: property ram/);
    await refused('nodes:\n  A: {kind: ethernet_switch, ports: 2, vlans: {Ethernet5: 3}}', /no Ethernet5. Raise `ports`/);
    await assert.rejects(getProject(api, 'none'), /no project "none"/);
  });

  it('of many nodes is applied in a handful of requests', async () => {
    const lab = await load(
      'nodes:\n  S[1-150]: {kind: ethernet_hub, ports: 2}\nlinks:\n  - ["S[1-149]", "S[2-150]"]',
      freshName('many'),
    );
    let requests = 0;
    const counted = new Proxy(api, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          requests += 1;
          return (value as (...given: unknown[]) => unknown).apply(target, args);
        };
      },
    });
    const steps = await planOn(api, lab);
    await applyPlan(counted, lab, steps);
    assert.deepEqual(await plan(lab), []);
    assert.ok(requests <= 12, `${requests} requests`);
  });
});

describe('labs over HTTP', () => {
  const text = 'nodes:\n  PC[1-2]: {kind: vpcs, config: {file: pc.cfg, vars: true}}\nlinks:\n  - [PC1, PC2]\n';

  it('are planned with a picture, applied with progress, and undone as one step', async () => {
    const name = freshName('http');
    const body = { lab: `name: ${name}\n${text}`, files: { 'pc.cfg': `ip \${net}.1\n` }, vars: { net: '10.0.0' } };
    const planned = await client.post<{ project_id: null; steps: unknown[]; picture: { nodes: unknown[]; links: unknown[] } }>(
      '/v2/labs/plan',
      body,
      200,
    );
    assert.deepEqual([planned.project_id, planned.steps.length], [null, 4]);
    assert.deepEqual(planned.picture, {
      nodes: [
        { name: 'PC1', x: -100, y: 0, action: 'create' },
        { name: 'PC2', x: 100, y: 0, action: 'create' },
      ],
      links: [{ ends: ['PC1', 'PC2'], action: 'create' }],
    });
    const lines = await applySent(body);
    assert.deepEqual(Object.keys(lines[0] ?? {}), ['steps']);
    const { project_id = '' } = lines.at(-1) as { project_id?: string };
    assert.deepEqual(lines.slice(1, -1).at(-1), { step: 'create links', done: 3, total: 3 });
    const [node] = await client.get<Node[]>(`/v2/projects/${project_id}/nodes`);
    assert.equal(await api.text(`/v2/projects/${project_id}/nodes/${node?.node_id}/files/startup.vpc`), 'ip 10.0.0.1\n');
    const again = await client.post<{ steps: unknown[] }>('/v2/labs/plan', body, 200);
    assert.deepEqual(again.steps, []);
    // Checks are read, and are no part of the project.
    const checks = '\nchecks:\n  - {node: PC1, ping: 10.0.0.2, eventually: 5s}\n';
    const checked = await client.post<{ steps: unknown[] }>('/v2/labs/plan', { ...body, lab: `${body.lab}${checks}` }, 200);
    assert.deepEqual(checked.steps, []);
    await client.post(`/v2/projects/${project_id}/undo`, {}, 200);
    assert.deepEqual(await client.get(`/v2/projects/${project_id}/nodes`), []);
  });

  it('are planned with the files that their containers do not see', async () => {
    const lab =
      'name: unseen\nnodes: {C: {kind: docker, image: absent/frr, files: {etc/frr/frr.conf: x, etc/network/interfaces: y}}}';
    const { unseen } = await client.post<{ unseen: string[] }>('/v2/labs/plan', { lab }, 200);
    assert.equal(unseen.length, 1);
    assert.match(String(unseen[0]), /^The container of C sees the file etc\/frr\/frr\.conf only if/);
  });

  it('samples of the page are planned as they are, without an engine or an image', async () => {
    const root = join(import.meta.dirname, '../..');
    const ids = Object.keys(sampleTexts.labs);
    for (const id of ids) {
      const file = [`labs/${id}.yaml`, `web/dialogs/samples/${id}.yaml`].map((path) => join(root, path)).find(existsSync);
      const lab = await readFile(file ?? assert.fail(`no lab file of ${id}`), 'utf8');
      const { steps, picture } = await client.post<{ steps: { action: string; what: string }[]; picture: { nodes: unknown[] } }>(
        '/v2/labs/plan',
        { lab, file: `${id}.yaml` },
        200,
      );
      assert.ok(picture.nodes.length >= 2 && steps.some(({ what }) => what === 'link'), id);
      assert.ok(
        steps.every(({ action }) => action === 'create'),
        id,
      );
    }
    assert.ok(ids.length >= 7);
  });

  it('read no file of the server, and answer 400 with the place of an error, also for hostile ones', async () => {
    const refused = async (lab: unknown, says: RegExp, verb = 'plan') => {
      expectFault(await client.send(`POST /v2/labs/${verb}`, { body: { lab, file: 'my.yaml' } }), 400, says);
    };
    await refused('include: [/etc/passwd]', /my.yaml:1:11: \/etc\/passwd is outside of the folder/);
    await refused('nodes: {A: {kind: vpcs, config: {file: x.cfg}}}', /x.cfg was not sent/);
    await refused({ nodes: { A: { kind: 'vpcs', bogus: 1 } } }, /no field "bogus"/);
    await refused('nodes: {A: {template: none}}', /my.yaml:1:9: this server has no template "none"/, 'apply');
    await refused('['.repeat(10_000), /nested too deep/, 'apply');
    await refused(7, /lab/);
    // Short files that stand for more than a text, the thread, its result or the plan may have.
    const long = 'x'.repeat(400_000);
    await refused(`vars: {v: ${long}}\nnodes: {A: {kind: vpcs, config: "${`\${v}`.repeat(3000)}"}}`, /a text becomes longer than/);
    await refused(`nodes: {'A[1-5000]': {kind: vpcs, config: "\${node}${long}"}}`, /10 s of processor time or 256 MiB/);
    await refused(`nodes: {'A[1-1000]': {kind: vpcs, config: "\${node}${'x'.repeat(30_000)}"}}`, /\d bytes when it is resolved/);
    await refused("nodes: {'A[1-200]': {kind: ethernet_switch, ports: 1024}}", /at most 200000 ports together/);
  });

  it('have a schema that editors complete lab files with, properties of kinds included', async () => {
    const schema = await client.get<Record<string, unknown>>('/lab.schema.json');
    const validator = Compile(schema as TSchema);
    const check = (lab: object) => validator.Check(lab);
    assert.ok(check({ nodes: { VM: { kind: 'qemu', properties: { ram: 64 } } }, links: [['a', 'b']] }));
    assert.ok(!check({ nodes: { VM: { kind: 'qemu', properties: { rum: 64 } } } }));
    assert.ok(!check({ nodes: { VM: { kind: 'qemu', memori: 64 } } }));
  });
});

async function applySent(body: object): Promise<Record<string, unknown>[]> {
  const reply = expectStatus(await client.send('POST /v2/labs/apply', { body }), 200);
  return reply
    .text()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
