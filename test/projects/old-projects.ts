/**
 * Project folders as programs of several years left them, written by the description of GNS3's format: path to content.
 * `pc` and `machine` are a VPCS and a QEMU node that are linked to each other.
 */
const ids = {
  project: '0d3a6a4e-7a55-4a4e-9a0b-5d1f7c9b6e01',
  pc: '0d3a6a4e-7a55-4a4e-9a0b-5d1f7c9b6e02',
  machine: '0d3a6a4e-7a55-4a4e-9a0b-5d1f7c9b6e03',
  link: '0d3a6a4e-7a55-4a4e-9a0b-5d1f7c9b6e04',
  drawing: '0d3a6a4e-7a55-4a4e-9a0b-5d1f7c9b6e05',
  router: '0d3a6a4e-7a55-4a4e-9a0b-5d1f7c9b6e06',
};

type Ids = Readonly<typeof ids>;
type Files = Readonly<Record<string, string>>;

const machine = { ram: 16, adapters: 1, boot_priority: 'n', options: '-nodefaults -machine accel=tcg,graphics=off' };
const label = (text: string) => ({ rotation: 0, style: 'font-size: 10;', text, x: 0, y: -25 });
const place = (x: number) => ({ x, y: 0, z: 1, width: 65, height: 59, symbol: ':/symbols/computer.svg' });
const naming = { port_name_format: 'Ethernet{0}', port_segment_size: 0, first_port_name: null };

/** Topology of revisions from 2.0 on. */
function topology(revision: number, changes: { pc?: object; machine?: object; project?: object }): string {
  const common = { compute_id: 'local', console_type: 'telnet', ...naming };
  const pc = {
    ...common,
    ...place(10),
    node_id: ids.pc,
    node_type: 'vpcs',
    name: 'pc',
    label: label('pc'),
    console: 5001,
    properties: {},
  };
  const vm = {
    ...common,
    ...place(90),
    node_id: ids.machine,
    node_type: 'qemu',
    name: 'machine',
    label: label('machine'),
    console: 5002,
  };
  const end = (node_id: string) => ({ node_id, adapter_number: 0, port_number: 0, label: label('e0') });
  return JSON.stringify({
    ...changes.project,
    auto_start: false,
    name: 'old lab',
    project_id: ids.project,
    revision,
    type: 'topology',
    version: '2.0.0',
    topology: {
      computes: [],
      drawings: [{ drawing_id: ids.drawing, x: 1, y: 2, z: 0, rotation: 0, svg: '<svg><text>hello</text></svg>' }],
      links: [{ link_id: ids.link, nodes: [end(ids.pc), end(ids.machine)] }],
      nodes: [
        { ...pc, ...changes.pc },
        { ...vm, properties: machine, ...changes.machine },
      ],
    },
  });
}

const startup = { [`project-files/vpcs/${ids.pc}/startup.vpc`]: 'set pcname pc\nip 10.0.0.1/24\n' };

const revision9 = {
  'old lab.gns3': topology(9, {
    project: {
      variables: [
        { name: '', value: 'dropped' },
        { name: 'kept', value: 'x' },
      ],
      zoom: 70,
      supplier: null,
      show_grid: true,
    },
    pc: { appliance_id: ids.router, locked: true },
  }),
  'README.txt': 'notes',
  ...startup,
};
const revision8 = {
  'old lab.gns3': topology(8, {
    project: { grid_size: 50, scene_width: 3000 },
    machine: { properties: { ...machine, acpi_shutdown: true, save_vm_state: false } },
  }),
  ...startup,
};
const revision7 = {
  'old lab.gns3': topology(7, { pc: { properties: { startup_script: 'set pcname pc\n', startup_script_path: 'startup.vpc' } } }),
  ...startup,
};
const revision5 = { 'old lab.gns3': topology(5, { machine: { console_type: 'serial' } }), ...startup };

/** 1.3 to 1.5: nodes by number, servers, shapes of the toolkit. */
const revision4 = {
  'old lab.gns3': JSON.stringify({
    auto_start: false,
    name: 'old lab',
    project_id: ids.project,
    revision: 4,
    type: 'topology',
    version: '1.5.0',
    resources_type: 'local',
    later_setting: 'new',
    topology: {
      servers: [{ id: 1, local: true, host: '127.0.0.1', port: 8000, vm: false }],
      nodes: [
        {
          id: 1,
          type: 'VPCSDevice',
          server_id: 1,
          vm_id: ids.pc,
          x: 10.7,
          y: 0.0,
          label: { text: 'pc', x: 3.2, y: -25.0, color: '#80ff0000', font: 'Arial,12,-1,5,75,1,0,0,0,0' },
          hover_symbol: ':/symbols/vpcs_guest.selected.svg',
          later_key: 'new',
          ports: [{ id: 1, name: 'Ethernet0', adapter_number: 0, port_number: 0, description: 'connected', later_port: 'new' }],
          properties: { name: 'pc', console: 5001, startup_script_path: 'startup.vpc' },
        },
        {
          id: 2,
          type: 'QemuVM',
          server_id: 1,
          vm_id: ids.machine,
          x: 90,
          y: 0,
          default_symbol: ':/symbols/qemu_guest.normal.svg',
          label: { text: 'machine', x: 0, y: -25 },
          ports: [{ id: 2, name: 'Ethernet0', adapter_number: 0, port_number: 0 }],
          properties: { ...machine, name: 'machine', console: 5002, acpi_shutdown: true },
        },
        {
          id: 3,
          type: 'C3640',
          server_id: 1,
          vm_id: ids.router,
          dynamips_id: 7,
          x: 0,
          y: 100,
          ports: [],
          properties: { name: 'R1', image: 'c3640.bin', console: 2001 },
        },
      ],
      links: [
        { id: 1, source_node_id: 1, source_port_id: 1, destination_node_id: 2, destination_port_id: 2 },
        { id: 2, source_node_id: 1, source_port_id: 99, destination_node_id: 9, destination_port_id: 2 },
      ],
      ellipses: [{ x: 5, y: 5, width: 40.0, height: 20.0, color: '#ff00ff00', border_style: 2 }],
      rectangles: [{ x: 5, y: 5, width: 40, height: 20, border_style: 1 }],
      notes: [{ x: 1, y: 2, text: 'a < b', color: '#112233', later_note: 'new' }],
      images: [{ x: 0, y: 0, path: 'pictures/logo.svg' }],
    },
  }),
  'instructions.txt': 'what to do',
  'pictures/logo.svg': '<svg><circle r="3"/></svg>',
  'project-files/dynamips/c3600_i7_nvram': 'nvram',
  'project-files/dynamips/configs/i7_startup-config.cfg': 'hostname R1',
  'project-files/snapshots/first_010216_101112/old lab.gns3': topology(5, { pc: { x: 77 } }),
  [`project-files/snapshots/first_010216_101112/project-files/vpcs/${ids.pc}/startup.vpc`]: 'set pcname then\n',
  ...startup,
};

const originals: ReadonlyMap<number, Files> = new Map<number, Files>([
  [9, revision9],
  [8, revision8],
  [7, revision7],
  [5, revision5],
  [4, revision4],
]);
export const revisions: readonly number[] = [...originals.keys()];

/** A project with ids and a name that no other revision's project has, so that all can be on one server. */
export function oldProject(revision: number): { files: Files; ids: Ids; name: string } {
  const own = (text: string) => text.replaceAll('0d3a6a4e', `0d3a6a4${revision}`).replaceAll('"old lab"', `"old lab ${revision}"`);
  const entries = Object.entries(originals.get(revision) ?? {}).map(([path, content]) => [own(path), own(content)]);
  const ownIds = Object.entries(ids).map(([key, id]) => [key, own(id)]);
  return { files: Object.fromEntries(entries), ids: Object.fromEntries(ownIds) as Ids, name: `old lab ${revision}` };
}
