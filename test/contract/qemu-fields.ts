/** The creation request of a QEMU node, field by field: values that must be taken, with what comes back, and values that must not. */
import { bootPriorities, closeActions, consoleTypes, processPriorities } from './qemu-words.ts';

export interface FieldRow {
  readonly field: string;
  /** Sent value and returned value; a single value is returned unchanged. */
  readonly taken: readonly (readonly [unknown, unknown?])[];
  readonly refused: readonly unknown[];
}

const disks = ['hda', 'hdb', 'hdc', 'hdd'] as const;
const notText = [5, true, [], {}, 1.5];
const notInteger = ['1', 1.5, true, [], {}];
const notFlag = ['true', 1, [], {}];
const words = (list: readonly string[], refused: readonly unknown[]) => ({ taken: list.map((word) => [word] as const), refused });
const textOrNull = (field: string, sample: string, standard: unknown): FieldRow => ({
  field,
  taken: [[sample], [null, standard]],
  refused: notText,
});
const md5sum = (field: string): FieldRow => ({
  field,
  taken: [
    ['0'.repeat(32), null],
    [null, null],
  ],
  refused: notText,
});

export const fieldRows: readonly FieldRow[] = [
  { field: 'adapter_type', taken: [['e1000'], ['virtio-net-pci'], [null, 'e1000']], refused: ['', ...notText] },
  { field: 'adapters', taken: [[0], [1], [8], [275], [null, 1]], refused: [-1, 276, ...notInteger] },
  { field: 'bios_image', taken: [['']], refused: [null, ...notText] },
  md5sum('bios_image_md5sum'),
  { field: 'boot_priority', ...words(bootPriorities, [null, '', 'x', 'ccc', 5, []]) },
  { field: 'cdrom_image', taken: [['']], refused: [null, ...notText] },
  md5sum('cdrom_image_md5sum'),
  { field: 'console', taken: [], refused: [0, -1, 65536, ...notInteger] },
  { field: 'console_type', ...words(consoleTypes, [null, '', 'http', 5]) },
  { field: 'cpu_throttling', taken: [[0], [50], [800], [null, 0]], refused: [-1, 801, ...notInteger] },
  { field: 'maxcpus', taken: [[2], [255], [null, undefined]], refused: [0, 256, -1, ...notInteger] },
  { field: 'cpus', taken: [[1], [4], [255], [null, 1]], refused: [0, 256, -1, ...notInteger] },
  {
    field: 'custom_adapters',
    taken: [],
    refused: [
      null,
      'x',
      {},
      [5],
      [{}],
      [{ adapter_number: '0' }],
      [{ adapter_number: 0, mac_address: 'nonsense' }],
      [{ adapter_number: 0, adapter_type: '' }],
      [{ adapter_number: 0, speed: 5 }],
    ],
  },
  ...disks.map((disk): FieldRow => ({ field: `${disk}_disk_image`, taken: [['']], refused: [null, ...notText] })),
  ...disks.map((disk) => md5sum(`${disk}_disk_image_md5sum`)),
  ...disks.map((disk): FieldRow => {
    return { field: `${disk}_disk_interface`, taken: [['ide'], ['sata'], ['virtio'], ['none']], refused: [null, ...notText] };
  }),
  { field: 'initrd', taken: [['']], refused: [null, ...notText] },
  md5sum('initrd_md5sum'),
  textOrNull('kernel_command_line', 'console=ttyS0 quiet', ''),
  { field: 'kernel_image', taken: [['']], refused: [null, ...notText] },
  md5sum('kernel_image_md5sum'),
  { field: 'legacy_networking', taken: [[true], [false], [null, false]], refused: notFlag },
  { field: 'linked_clone', taken: [], refused: [null, ...notFlag] },
  {
    field: 'mac_address',
    taken: [['00:11:22:33:44:55']],
    refused: ['00:11:22:33:44', 'xx:11:22:33:44:55', '00-11-22-33-44-55', ...notText],
  },
  { field: 'name', taken: [['Größe {0}'], ['a b'], ['x/y']], refused: [null, '', ...notText] },
  { field: 'node_id', taken: [], refused: ['x', '', null, '00000000-0000-4000-8000-00000000000', true, {}] },
  { field: 'on_close', ...words(closeActions, [null, '', 'kill', 5]) },
  textOrNull('options', '-nodefaults', ''),
  { field: 'platform', taken: [['x86_64'], ['i386'], [null, 'x86_64']], refused: ['x86', 'X86_64', 'vax', 5, [], true] },
  {
    field: 'process_priority',
    taken: [...processPriorities.map((word) => [word] as const), [null, 'low']],
    refused: ['', 'fast', 5, []],
  },
  {
    field: 'qemu_path',
    taken: [
      ['qemu-system-x86_64', /\/qemu-system-x86_64$/],
      // A path from another machine, where emulators have other paths.
      ['/opt/elsewhere/qemu-system-x86_64', /\/s?bin\/qemu-system-x86_64$/],
      [null, /\/qemu-system-\w+$/],
    ],
    refused: ['', ...notText],
  },
  { field: 'ram', taken: [[16], [4096], [null, 256]], refused: [1e30, ...notInteger] },
  { field: 'usage', taken: [[''], ['User: root\nPassword: none'], ['x'.repeat(60_000)]], refused: [null, ...notText] },
];

/** Keys of the node object that a request may not carry. */
export const notAccepted: Readonly<Record<string, unknown>> = {
  command_line: 'qemu',
  node_directory: '/tmp',
  project_id: '00000000-0000-4000-8000-000000000000',
  save_vm_state: true,
  status: 'stopped',
  nonsense: 1,
  properties: {},
  constructor: 1,
};
