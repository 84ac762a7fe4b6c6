/**
 * Requests and statuses of the examples in GNS3's API reference (2.2), and the fields of their answers. Values that only programs replaced for
 * GNS3's tests would take are others here: sizes of clusters, and a capture of a link whose nodes do not run; so are UDP ports, which another
 * program may have, and the cloud's port, which is no interface of this host.
 */

export interface Example {
  /** `<name>` stands for a value of an earlier answer, in a body `#<name>` for a number. */
  readonly call: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly status: number;
  /** That the answer, or the first of a list, has; by blanks. */
  readonly fields?: string;
  /** Name to field of the answer. */
  readonly save?: Readonly<Record<string, string>>;
}

type Row = readonly [call: string, status: number, more?: Omit<Example, 'call' | 'status'>];
const examples = (rows: readonly Row[]): Example[] => rows.map(([call, status, more = {}]) => ({ call, status, ...more }));

export interface KindExample {
  readonly type: string;
  readonly create: Readonly<Record<string, unknown>>;
  /** Of every answer with the node. */
  readonly fields: string;
  /** Status of a start; absent: its program is not here. */
  readonly start?: number;
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
    isCopied: true,
  },
  {
    type: 'iou',
    create: { name: 'PC TEST 1', path: 'iou.bin' },
    fields: `${common} application_id ethernet_adapters serial_adapters ram nvram l1_keepalives md5sum path`,
    port: '1/ports/0',
    isCopied: true,
  },
  {
    type: 'virtualbox',
    create: { name: 'VMTEST', vmname: 'VMTEST', linked_clone: false, adapters: 1 },
    fields: `${common} vmname adapters adapter_type headless linked_clone on_close ram`,
  },
  {
    type: 'vmware',
    create: { name: 'VMTEST', vmx_path: '/tmp/test.vmx', linked_clone: false, adapters: 1 },
    fields: `${common} vmx_path adapters adapter_type headless linked_clone on_close`,
  },
  {
    type: 'traceng',
    create: { name: 'TraceNG TEST 1', ip_address: '10.0.0.1' },
    fields: `${common} ip_address status`,
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
    start: 204,
    verbs: 'stop suspend',
    hasNoNioUpdate: true,
    isCopied: true,
  },
  {
    type: 'ethernet_hub',
    create: { name: 'Ethernet Hub 1' },
    fields: `${common} ports_mapping status`,
    start: 204,
    verbs: 'stop suspend',
    hasNoNioUpdate: true,
    isCopied: true,
  },
  {
    type: 'frame_relay_switch',
    create: { name: 'FR 1', mappings: { '1:101': '2:202' } },
    fields: `${common} mappings status`,
    start: 204,
    verbs: 'stop suspend',
    port: '0/ports/1',
    hasNoNioUpdate: true,
    isCopied: true,
  },
  {
    type: 'atm_switch',
    create: { name: 'ATM 1', mappings: { '1:0:100': '2:0:200' } },
    fields: `${common} mappings status`,
    start: 204,
    verbs: 'stop suspend',
    port: '0/ports/1',
    hasNoNioUpdate: true,
    isCopied: true,
  },
];

/** A node from its creation to its deletion. */
export function lifeOfNode({
  type,
  create,
  fields,
  start,
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
    ...(start === undefined ? [] : [[`POST ${node}/start`, start, { body: {} }] as Row]),
    ...verbs.split(' ').flatMap((verb): Row[] => (verb === '' ? [] : [[`POST ${node}/${verb}`, 204]])),
    ...(verbs.includes('reload') ? [[`POST ${node}/stop`, 204] as Row] : []),
    [`DELETE ${at}/nio`, 204],
    ...(isCopied ? copy : []),
    [`DELETE ${node}`, 204],
    [`GET ${node}`, 404, { fields: 'message status' }],
    [`POST ${project}/close`, 204],
  ]);
}

/** As the reference has them: `51010203-0405-0607-0809-0a0b0c0d0e0f` and the like. */
const projectIds = Object.fromEntries(
  kindExamples.map(({ type }, index) => [type, `${String(index + 10)}010203-0405-0607-0809-0a0b0c0d0e0f`]),
);

const projectFields =
  'name project_id path filename status auto_close auto_open auto_start scene_width scene_height zoom grid_size';
const nodeFields =
  'compute_id console console_host console_type name node_id node_type ports project_id properties status symbol x y z label';
const templateFields = 'template_id name template_type category symbol compute_id builtin default_name_format';
const linkFields = 'link_id link_type nodes project_id capturing capture_file_name filters suspend';

export const controllerExamples: readonly Example[] = examples([
  ['GET /v2/version', 200, { fields: 'version local' }],
  ['POST /v2/version', 200, { body: { version: '2.2.60' }, fields: 'version' }],
  ['POST /v2/version', 409, { body: { version: '0.4.2' }, fields: 'message status' }],
  ['GET /v2/iou_license', 200],
  ['PUT /v2/iou_license', 201, { body: { iourc_content: 'test', license_check: false }, fields: 'iourc_content license_check' }],
  ['GET /v2/statistics', 200, { fields: 'compute_id compute_name statistics' }],
  ['GET /v2/computes', 200, { fields: 'compute_id name host port protocol user connected capabilities' }],
  [
    'POST /v2/computes',
    201,
    {
      body: { compute_id: 'my_compute_id', host: 'localhost', port: 84, protocol: 'http', user: 'julien', password: 'secure' },
      fields: 'compute_id host port protocol user connected',
    },
  ],
  ['GET /v2/computes/my_compute_id', 200, { fields: 'compute_id host port protocol user' }],
  [
    'PUT /v2/computes/my_compute_id',
    200,
    {
      body: { compute_id: 'my_compute_id', host: 'localhost', port: 84, protocol: 'https', user: 'julien' },
      fields: 'compute_id protocol',
    },
  ],
  ['DELETE /v2/computes/my_compute_id', 204],
  ['GET /v2/computes/my_compute_id', 404, { fields: 'message status' }],
  ['GET /v2/computes/local/ports', 200, { fields: 'console_port_range console_ports udp_port_range udp_ports' }],
  ['GET /v2/computes/local/qemu/images', 200],
  ['GET /v2/computes/local/qemu/binaries', 200, { fields: 'path version' }],
  ['GET /v2/computes/endpoint/local/qemu/images', 200, { fields: 'endpoint' }],
  ['GET /v2/symbols', 200, { fields: 'symbol_id filename builtin' }],
  ['GET /v2/symbols/:/symbols/firewall.svg/raw', 200],
  ['GET /v2/symbols/:/symbols/firewall.svg/dimensions', 200, { fields: 'width height' }],
  ['POST /v2/symbols/test2/raw', 204, { raw: '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="20"/>' }],
  ['GET /v2/default_symbols', 200],
  ['GET /v2/appliances', 200, { fields: 'name category builtin symbol' }],
  ['GET /v2/gns3vm', 200],
  ['GET /v2/gns3vm/engines', 200],
  [
    'POST /v2/templates',
    201,
    {
      body: {
        base_script_file: 'vpcs_base_config.txt',
        category: 'guest',
        console_auto_start: false,
        console_type: 'telnet',
        default_name_format: 'PC{0}',
        name: 'VPCS_TEST',
        compute_id: 'local',
        symbol: ':/symbols/vpcs_guest.svg',
        template_type: 'vpcs',
      },
      fields: templateFields,
      save: { template: 'template_id' },
    },
  ],
  ['GET /v2/templates', 200, { fields: templateFields }],
  ['GET /v2/templates/<template>', 200, { fields: templateFields }],
  ['PUT /v2/templates/<template>', 200, { body: { name: 'VPCS_TEST_RENAMED' }, fields: templateFields }],
  ['POST /v2/templates/<template>/duplicate', 201, { fields: templateFields, save: { template_copy: 'template_id' } }],
  ['DELETE /v2/templates/<template_copy>', 204],
  [
    'POST /v2/projects',
    201,
    {
      body: { name: 'test', project_id: '10010203-0405-0607-0809-0a0b0c0d0e0b' },
      fields: projectFields,
      save: { p: 'project_id' },
    },
  ],
  ['GET /v2/projects', 200, { fields: 'name project_id path filename status' }],
  ['GET /v2/projects/<p>', 200, { fields: projectFields }],
  ['PUT /v2/projects/<p>', 200, { body: { name: 'test2' }, fields: projectFields }],
  ['POST /v2/projects/<p>/templates/<template>', 201, { body: { x: 42, y: 12 } }],
  [
    'POST /v2/projects/<p>/nodes',
    201,
    {
      body: { name: 'test', node_type: 'vpcs', compute_id: 'local', properties: { startup_script: 'echo test' } },
      fields: nodeFields,
      save: { n: 'node_id' },
    },
  ],
  [
    'POST /v2/projects/<p>/nodes',
    201,
    { body: { name: 'test', node_type: 'vpcs', compute_id: 'local' }, fields: nodeFields, save: { m: 'node_id' } },
  ],
  ['GET /v2/projects/<p>/nodes', 200, { fields: nodeFields }],
  ['GET /v2/projects/<p>/nodes/<n>', 200, { fields: nodeFields }],
  [
    'PUT /v2/projects/<p>/nodes/<n>',
    200,
    { body: { name: 'test', compute_id: 'local', node_type: 'vpcs', properties: {} }, fields: nodeFields },
  ],
  ['POST /v2/projects/<p>/nodes/<n>/files/hello', 201, { raw: 'hello' }],
  ['GET /v2/projects/<p>/nodes/<n>/files/hello', 200],
  [
    'POST /v2/projects/<p>/links',
    201,
    {
      body: {
        nodes: [
          { node_id: '<n>', adapter_number: 0, port_number: 0, label: { text: 'Text', x: 42, y: 0 } },
          { node_id: '<m>', adapter_number: 0, port_number: 0 },
        ],
      },
      fields: linkFields,
      save: { l: 'link_id' },
    },
  ],
  ['GET /v2/projects/<p>/links', 200, { fields: linkFields }],
  ['GET /v2/projects/<p>/links/<l>', 200, { fields: linkFields }],
  ['GET /v2/projects/<p>/nodes/<n>/links', 200, { fields: linkFields }],
  ['GET /v2/projects/<p>/links/<l>/available_filters', 200, { fields: 'type name description parameters' }],
  [
    'PUT /v2/projects/<p>/links/<l>',
    201,
    {
      body: {
        nodes: [
          { node_id: '<n>', adapter_number: 0, port_number: 0, label: { text: 'Hello', x: 64, y: 0 } },
          { node_id: '<m>', adapter_number: 0, port_number: 0 },
        ],
        filters: { latency: [10] },
      },
      fields: linkFields,
    },
  ],
  ['POST /v2/projects/<p>/nodes/<n>/start', 200, { body: {} }],
  [
    'POST /v2/projects/<p>/links/<l>/start_capture',
    201,
    { body: { data_link_type: 'DLT_EN10MB', capture_file_name: 'test.pcap' }, fields: linkFields },
  ],
  ['POST /v2/projects/<p>/links/<l>/stop_capture', 201],
  ['POST /v2/projects/<p>/nodes/<n>/reload', 200, { body: {} }],
  ['POST /v2/projects/<p>/nodes/<n>/stop', 200, { body: {} }],
  ['POST /v2/projects/<p>/nodes/start', 204],
  ['POST /v2/projects/<p>/nodes/reload', 204],
  ['POST /v2/projects/<p>/nodes/suspend', 204],
  ['POST /v2/projects/<p>/nodes/stop', 204],
  ['POST /v2/projects/<p>/nodes/<n>/duplicate', 201, { body: { x: 10, y: 5, z: 0 }, fields: nodeFields }],
  [
    'POST /v2/projects/<p>/nodes',
    201,
    {
      body: { name: 'VM', node_type: 'qemu', compute_id: 'local', properties: { ram: 64, options: '-display none' } },
      fields: nodeFields,
      save: { vm: 'node_id' },
    },
  ],
  [
    'POST /v2/projects/<p>/drawings',
    201,
    {
      body: { svg: '<svg />', x: 10, y: 20, z: 0 },
      fields: 'drawing_id project_id svg x y z rotation locked',
      save: { d: 'drawing_id' },
    },
  ],
  ['GET /v2/projects/<p>/drawings', 200, { fields: 'drawing_id svg x y z' }],
  ['GET /v2/projects/<p>/drawings/<d>', 200, { fields: 'drawing_id svg x y z' }],
  ['PUT /v2/projects/<p>/drawings/<d>', 201, { body: { x: 42 }, fields: 'drawing_id svg x y z' }],
  ['DELETE /v2/projects/<p>/drawings/<d>', 204],
  [
    'POST /v2/projects/<p>/snapshots',
    201,
    { body: { name: 'snap1' }, fields: 'snapshot_id name created_at project_id', save: { s: 'snapshot_id' } },
  ],
  ['GET /v2/projects/<p>/snapshots', 200, { fields: 'snapshot_id name created_at project_id' }],
  ['POST /v2/projects/<p>/snapshots/<s>/restore', 201, { fields: projectFields }],
  ['DELETE /v2/projects/<p>/snapshots/<s>', 204],
  ['GET /v2/projects/<p>/stats', 200, { fields: 'nodes links drawings snapshots' }],
  ['POST /v2/projects/<p>/files/hello', 201, { raw: 'world' }],
  ['GET /v2/projects/<p>/files/hello', 200],
  ['GET /v2/projects/<p>/export', 200],
  ['POST /v2/projects/<p>/duplicate', 201, { body: { name: 'hello' }, fields: projectFields, save: { copy: 'project_id' } }],
  ['DELETE /v2/projects/<copy>', 204],
  ['DELETE /v2/projects/<p>/links/<l>', 204],
  ['DELETE /v2/projects/<p>/nodes/<vm>', 204],
  ['POST /v2/projects/<p>/close', 204],
  ['POST /v2/projects/<p>/open', 201, { fields: projectFields }],
  ['DELETE /v2/projects/<p>', 204],
  ['GET /v2/projects/<p>', 404, { fields: 'message status' }],
  ['DELETE /v2/templates/<template>', 204],
  ['GET /v2/compute/version', 200, { fields: 'version' }],
  ['GET /v2/compute/capabilities', 200, { fields: 'version node_types platform' }],
  ['GET /v2/compute/statistics', 200, { fields: 'memory_total cpu_usage_percent disk_usage_percent' }],
  ['GET /v2/compute/network/interfaces', 200, { fields: 'name id type special mac_address ip_address netmask' }],
  ['GET /v2/compute/network/ports', 200, { fields: 'console_port_range udp_port_range' }],
  ['GET /v2/compute/qemu/binaries', 200, { fields: 'path version' }],
  ['GET /v2/compute/qemu/img-binaries', 200, { fields: 'path version' }],
  ['GET /v2/compute/qemu/capabilities', 200, { fields: 'kvm' }],
  [
    'POST /v2/compute/qemu/img',
    201,
    {
      body: {
        qemu_img: 'qemu-img',
        path: 'hda.qcow2',
        format: 'qcow2',
        preallocation: 'metadata',
        cluster_size: 65536,
        refcount_bits: 16,
        lazy_refcounts: 'off',
        size: 100,
      },
    },
  ],
  ['PUT /v2/compute/qemu/img', 201, { body: { qemu_img: 'qemu-img', path: 'hda.qcow2', extend: 10 } }],
  ['POST /v2/compute/qemu/images/image', 204, { raw: 'TEST' }],
  ['GET /v2/compute/qemu/images', 200],
  ['GET /v2/compute/qemu/images/image', 200],
  ['POST /v2/compute/dynamips/images/test2', 204, { raw: 'TEST' }],
  ['GET /v2/compute/dynamips/images', 200],
  ['POST /v2/compute/iou/images/test2', 204, { raw: 'TEST' }],
  ['GET /v2/compute/iou/images', 200],
]);
