/**
 * Labs as people of all years share them, written anew from the description of GNS3's format: every type of node with the properties of its
 * time, links with styles and filters, pictures, computes that are gone. Each is opened, changed, saved, and nothing of it is lost.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type NodeBody, tinyVm, withServer } from '../support/with-server.ts';

const { server, client } = await withServer({ config: { Docker: { socket_path: '/nowhere/docker.sock' } } });

type Fields = Record<string, unknown>;
interface Lab {
  readonly [key: string]: unknown;
  readonly topology: { nodes: Fields[]; links: Fields[]; drawings: Fields[]; computes: Fields[] };
}

const missing = randomUUID();
const sum = '64c2ad5ca8cf4f6d5cbd3a1b9a6a3d8e';
/** Type to properties, and other keys of the node. */
const kinds: readonly (readonly [type: string, properties: Fields, fields?: Fields])[] = [
  ['vpcs', {}, { console_auto_start: true, locked: true }],
  ['qemu', { ...tinyVm, adapters: 4, usage: 'admin' }, { port_name_format: 'Gi0/{port1}', first_port_name: 'Mgmt' }],
  ['dynamips', { platform: 'c7200', image: 'c7200.image', image_md5sum: sum, ram: 512, slot1: 'PA-4T+', idlepc: '0x606df838' }],
  ['iou', { path: 'l3.bin', md5sum: sum, application_id: 7, ethernet_adapters: 1, serial_adapters: 1, ram: 256, nvram: 128 }],
  ['docker', { image: 'alpine:latest', adapters: 2, environment: 'A=b', extra_volumes: ['/data'] }],
  ['virtualbox', { vmname: 'old', adapters: 2, ram: 1024, headless: true }],
  ['vmware', { vmx_path: '/gone/a.vmx', linked_clone: true, adapters: 1 }],
  ['traceng', { ip_address: '10.0.0.1', default_destination: 'example.net' }, { console_type: 'none' }],
  ['cloud', { ports_mapping: [{ interface: 'eth0', name: 'eth0', port_number: 0, type: 'ethernet' }] }, { console_type: null }],
  ['nat', { ports_mapping: [{ interface: 'virbr0', name: 'nat0', port_number: 0, type: 'ethernet' }] }, { console_type: null }],
  [
    'ethernet_switch',
    {
      ports_mapping: [
        { name: 'Ethernet0', port_number: 0, type: 'access', vlan: 7 },
        { name: 'Ethernet1', port_number: 1, type: 'dot1q', vlan: 1 },
      ],
    },
    { console_type: 'none' },
  ],
  ['ethernet_hub', { ports_mapping: [{ name: 'Ethernet0', port_number: 0 }] }, { console_type: null }],
  ['frame_relay_switch', { mappings: { '1:101': '2:202' } }, { console_type: null }],
  ['atm_switch', { mappings: { '1:0:100': '2:0:200' } }, { console_type: null }],
];

function lab(revision: number): Lab {
  const nodes = kinds.map(([node_type, properties, fields], index) => ({
    ...{ compute_id: node_type === 'vmware' ? missing : 'local', console_type: 'telnet', name: `${node_type}-${index}` },
    ...{ node_id: randomUUID(), node_type, properties, symbol: ':/symbols/computer.svg', x: index * 90 - 300, y: -40, z: 1 },
    ...{ width: 65, height: 59, port_name_format: 'Ethernet{0}', port_segment_size: 0, first_port_name: null },
    label: {
      rotation: 15,
      style: 'font-family: TypeWriter;font-size: 10.0;fill: #aa0000;',
      text: `${node_type}-${index}`,
      x: -4,
      y: -25,
    },
    ...fields,
  }));
  const end = (type: string, adapter_number = 0, port_number = 0) => ({
    ...{ adapter_number, port_number, node_id: nodes.find(({ node_type }) => node_type === type)?.node_id },
    label: { rotation: 0, style: 'font-size: 9;', text: `e${adapter_number}`, x: 12, y: 8 },
  });
  const links = [
    {
      nodes: [end('vpcs'), end('qemu')],
      filters: { delay: [40, 5], packet_loss: [2] },
      link_style: { color: '#ff0000', width: 2 },
    },
    { nodes: [end('qemu', 1), end('ethernet_switch', 0, 1)], suspend: true },
    { nodes: [end('dynamips'), end('ethernet_switch')] },
    { nodes: [end('iou'), end('vmware')] },
  ].map((link) => ({ link_id: randomUUID(), filters: {}, ...link }));
  const drawings = [
    '<svg width="80" height="40"><rect width="80" height="40" fill="#eeeeee" stroke-dasharray="25, 25"/></svg>',
    '<svg width="90" height="20"><text font-family="Noto Sans" fill="#123456">R1 &amp; R2 – site A</text></svg>',
  ].map((svg, index) => ({ drawing_id: randomUUID(), svg, x: index * 50, y: -200, z: index, rotation: 30 * index }));
  return {
    ...{
      auto_close: true,
      auto_open: false,
      auto_start: false,
      grid_size: 50,
      name: `lab of ${revision}`,
      project_id: randomUUID(),
    },
    ...{ revision, scene_height: 1500, scene_width: 2500, show_grid: true, show_interface_labels: true, snap_to_grid: true },
    ...{ supplier: { logo: 'logo.png', url: 'https://example.org' }, type: 'topology', version: '2.1.0', zoom: 80 },
    variables: [{ name: 'SITE', value: 'A' }],
    topology: {
      computes: [{ compute_id: missing, host: '192.0.2.1', name: 'gone', port: 3080, protocol: 'http' }],
      drawings,
      links,
      nodes,
    },
  };
}

/** Everything of `given` stands in `kept`, with the same value. */
function assertKept(kept: unknown, given: unknown, what: string): void {
  const isPart = typeof given === 'object' && given !== null && !Array.isArray(given);
  if (!isPart) assert.deepEqual(kept, given, what);
  else for (const [key, value] of Object.entries(given)) assertKept((kept as Fields | undefined)?.[key], value, `${what}.${key}`);
}

for (const revision of [5, 6, 7, 8, 9]) {
  test(`a lab of revision ${revision} with every type of node loses nothing`, async () => {
    const given = lab(revision);
    const { project_id, name, topology } = given as Lab & { project_id: string; name: string };
    const folder = join(server.dataDir, 'projects', project_id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${name}.gns3`), JSON.stringify(given));
    await client.post('/v2/projects/load', { path: join(folder, `${name}.gns3`) });
    const path = `/v2/projects/${project_id}`;
    const nodes = await client.get<NodeBody[]>(`${path}/nodes`);
    assert.equal(nodes.length, kinds.length);
    assert.equal((await client.get<unknown[]>(`${path}/links`)).length, topology.links.length);
    const moved = nodes.find(({ node_type }) => node_type === 'vpcs');
    await client.put(`${path}/nodes/${moved?.node_id}`, { x: 5 });
    await client.post(`${path}/close`, {}, 204);
    const saved = JSON.parse(await readFile(join(folder, `${name}.gns3`), 'utf8')) as Lab;
    const { topology: _lists, revision: _revision, version: _version, auto_close: _close, ...fields } = given;
    assertKept(saved, fields, 'project');
    assert.equal(saved.revision, 9);
    for (const list of ['nodes', 'links', 'drawings', 'computes'] as const) {
      const idOf = (entry: Fields) => entry.node_id ?? entry.link_id ?? entry.drawing_id ?? entry.compute_id;
      assert.equal(saved.topology[list].length, topology[list].length, list);
      for (const entry of topology[list]) {
        const { x, ...rest } = entry;
        const kept = saved.topology[list].find((other) => idOf(other) === idOf(entry));
        assertKept(kept, rest, `${list} ${entry.name ?? idOf(entry)}`);
        if (x !== undefined) assert.equal(kept?.x, entry.node_id === moved?.node_id ? 5 : x);
      }
    }
    await client.delete(path);
  });
}
