/**
 * Requests and statuses of the examples in GNS3's API reference (2.2), and the fields of their answers. Values that only programs replaced for
 * GNS3's tests would take are others here: sizes of clusters, and a capture of a link whose nodes do not run; so are UDP ports, which another
 * program may have, and the cloud's port, which is no interface of this host.
 */

import { type Example, examples } from './documented-rows.ts';

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
