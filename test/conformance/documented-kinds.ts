/** The examples of GNS3's API reference (2.2) about nodes of a compute, by kind. */
import { type Example, examples, type Row } from './documented-rows.ts';

export interface KindExample {
  readonly type: string;
  readonly create: Readonly<Record<string, unknown>>;
  /** Fields of every answer with the node. */
  readonly fields: string;
  /** Status of a start; absent: its program is not here. 409: a kind that is only stored. */
  readonly start?: number;
  readonly startBody?: Readonly<Record<string, unknown>>;
  /** Actions that its routes have, and that need no running emulator. */
  readonly verbs?: string;
  /** Adapter and port of its NIO. */
  readonly port?: string;
  /** NIOs are made and removed only, as by GNS3. */
  readonly hasNoNioUpdate?: true;
  /** GNS3 copies such nodes. */
  readonly isCopied?: true;
}

const common = 'name node_id project_id';
/** Facts of switches and hubs. */
const inTheFabric = { start: 204, verbs: 'stop suspend', hasNoNioUpdate: true, isCopied: true } as const;

export const kindExamples: readonly KindExample[] = [
  {
    type: 'vpcs',
    create: { name: 'PC TEST 1' },
    fields: `${common} console console_type status command_line`,
    start: 200,
    verbs: 'stop reload',
    isCopied: true,
  },
  {
    type: 'qemu',
    create: { name: 'PC TEST 1', qemu_path: 'qemu-system-x86_64', ram: 64, options: '-display none' },
    fields: `${common} adapters adapter_type console console_type cpus hda_disk_image mac_address options platform qemu_path ram status usage`,
    start: 200,
    verbs: 'suspend resume stop',
    isCopied: true,
  },
  {
    type: 'dynamips',
    create: { name: 'DYNAMIPS-TEST-1', platform: 'c7200', image: 'c7200.bin', ram: 512 },
    fields: `${common} dynamips_id platform image ram idlepc mmap sparsemem npe midplane`,
    start: 204,
    verbs: 'suspend resume reload stop',
    isCopied: true,
  },
  {
    type: 'iou',
    create: { name: 'PC TEST 1', path: 'iou.bin' },
    fields: `${common} application_id ethernet_adapters serial_adapters ram nvram l1_keepalives md5sum path`,
    start: 200,
    startBody: { iourc_content: '<license>' },
    verbs: 'reload stop',
    port: '1/ports/0',
    isCopied: true,
  },
  {
    type: 'virtualbox',
    create: { name: 'VMTEST', vmname: 'VMTEST', linked_clone: false, adapters: 1 },
    fields: `${common} vmname adapters adapter_type headless linked_clone on_close ram`,
    start: 409,
    verbs: 'stop',
  },
  {
    type: 'vmware',
    create: { name: 'VMTEST', vmx_path: '/tmp/test.vmx', linked_clone: false, adapters: 1 },
    fields: `${common} vmx_path adapters adapter_type headless linked_clone on_close`,
    start: 409,
    verbs: 'stop',
  },
  {
    type: 'traceng',
    create: { name: 'TraceNG TEST 1', ip_address: '10.0.0.1' },
    fields: `${common} ip_address status`,
    start: 409,
    verbs: 'stop',
    isCopied: true,
  },
  {
    type: 'docker',
    create: { name: 'PC TEST 1', image: 'pb-test', start_command: 'sh', adapters: 2, environment: 'YES=1\nNO=0' },
    fields: `${common} adapters aux console console_resolution console_type container_id environment image start_command status`,
    start: 204,
    verbs: 'suspend resume reload stop',
    isCopied: true,
  },
  {
    type: 'cloud',
    create: {
      name: 'Cloud 1',
      ports_mapping: [
        { name: 'UDP tunnel 1', port_number: 0, type: 'udp', lport: '#<tunnel>', rhost: '127.0.0.1', rport: '#<tunnel>' },
      ],
    },
    fields: `${common} ports_mapping interfaces status`,
    start: 204,
    verbs: 'stop suspend',
  },
  { type: 'nat', create: { name: 'Nat 1' }, fields: `${common} ports_mapping status`, start: 204, verbs: 'stop suspend' },
  {
    type: 'ethernet_switch',
    create: { name: 'Ethernet Switch 1' },
    fields: `${common} ports_mapping status`,
    ...inTheFabric,
  },
  {
    type: 'ethernet_hub',
    create: { name: 'Ethernet Hub 1' },
    fields: `${common} ports_mapping status`,
    ...inTheFabric,
  },
  {
    type: 'frame_relay_switch',
    create: { name: 'FR 1', mappings: { '1:101': '2:202' } },
    fields: `${common} mappings status`,
    ...inTheFabric,
    port: '0/ports/1',
  },
  {
    type: 'atm_switch',
    create: { name: 'ATM 1', mappings: { '1:0:100': '2:0:200' } },
    fields: `${common} mappings status`,
    ...inTheFabric,
    port: '0/ports/1',
  },
];

const projectIds = Object.fromEntries(
  kindExamples.map(({ type }, index) => [type, `${String(index + 10)}010203-0405-0607-0809-0a0b0c0d0e0f`]),
);

/** A node from its creation to its deletion. */
export function lifeOfNode({
  type,
  create,
  fields,
  start,
  startBody = {},
  verbs = '',
  port = '0/ports/0',
  hasNoNioUpdate,
  isCopied,
}: KindExample): Example[] {
  const project = `/v2/compute/projects/<${type}_project>`;
  const node = `${project}/${type}/nodes/<${type}>`;
  const nio = { type: 'nio_udp', lport: '#<lport>', rport: '#<lport>', rhost: '127.0.0.1' };
  const at = `${node}/adapters/${port}`;
  const capture = { capture_file_name: 'test.pcap', data_link_type: 'DLT_EN10MB' };
  const copy: Row[] = [
    [`POST ${project}/${type}/nodes`, 201, { body: { ...create, name: 'Copy 1' }, fields, save: { [`${type}_copy`]: 'node_id' } }],
    [`POST ${node}/duplicate`, 201, { body: { destination_node_id: `<${type}_copy>` } }],
    [`DELETE ${project}/${type}/nodes/<${type}_copy>`, 204],
  ];
  return examples([
    [
      'POST /v2/compute/projects',
      201,
      {
        body: { name: `documented ${type}`, project_id: projectIds[type] },
        fields: 'name project_id',
        save: { [`${type}_project`]: 'project_id' },
      },
    ],
    [`POST ${project}/ports/udp`, 201, { fields: 'udp_port', save: { lport: 'udp_port' } }],
    [`POST ${project}/${type}/nodes`, 201, { body: create, fields, save: { [type]: 'node_id' } }],
    [`GET ${node}`, 200, { fields }],
    [`PUT ${node}`, 200, { body: { name: 'test' }, fields }],
    [`POST ${at}/nio`, 201, { body: nio, fields: 'type lport rport rhost' }],
    ...(hasNoNioUpdate
      ? []
      : [[`PUT ${at}/nio`, 201, { body: { ...nio, filters: { latency: [10] } }, fields: 'type lport rport rhost' }] as Row]),
    [`POST ${at}/start_capture`, 200, { body: capture, fields: 'pcap_file_path' }],
    [`POST ${at}/stop_capture`, 204],
    ...(start === undefined
      ? []
      : [[`POST ${node}/start`, start, { body: startBody, ...(start === 409 && { fields: 'message status' }) }] as Row]),
    ...verbs.split(' ').flatMap((verb): Row[] => (verb === '' ? [] : [[`POST ${node}/${verb}`, 204]])),
    ...(verbs.includes('reload') ? [[`POST ${node}/stop`, 204] as Row] : []),
    [`DELETE ${at}/nio`, 204],
    ...(isCopied ? copy : []),
    [`DELETE ${node}`, 204],
    [`GET ${node}`, 404, { fields: 'message status' }],
    [`POST ${project}/close`, 204],
  ]);
}

/** Ids as the reference has them: `51010203-0405-0607-0809-0a0b0c0d0e0f` and the like. */
