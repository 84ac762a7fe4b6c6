/**
 * QEMU's options that a user of a shared server may write, with their keys and the form of their values. It is a list of what is harmless:
 * nothing here names a file, a program, a socket, a device or a network of the host. Source: qemu-system-x86_64(1) of QEMU 7.2.
 */
import { deviceVariants, keysOf, text, word } from './options-devices.ts';
import type { Keys, Rule } from './options-rules.ts';

const value = (pattern: RegExp): Rule => ({ form: 'value', pattern });
const keys = (implied: string | undefined, names: string, pattern = word, more: [string, RegExp][] = []): Rule => ({
  form: 'keys',
  ...(implied !== undefined && { implied }),
  keys: new Map([...keysOf(names, pattern), ...more]),
});
const variants = (selector: string, table: Readonly<Record<string, [string, RegExp][]>>): Rule => ({
  form: 'variants',
  selector,
  variants: new Map(Object.entries(table).map(([name, list]): [string, Keys] => [name, new Map(list)])),
});

const flags = `alt-grab ctrl-grab enable-kvm localtime mem-prealloc no-acpi no-fd-bootchk no-hpet no-kvm no-kvm-irqchip no-kvm-pit
  no-kvm-pit-reinjection no-quit no-reboot no-shutdown no-user-config nodefaults nodefconfig nographic only-migratable portrait rtc-td-hack S
  show-cursor singlestep snapshot tdf usb win2k-hack`;

const machine = keys(
  'type',
  `accel acpi aes-key-wrap cap-cfpc cap-htm cap-ibs cap-sbbc dea-key-wrap default-bus-bypass-iommu dump-guest-core fd-bootchk gic-version
  graphics highmem hmat hpet i8042 igd-passthru iommu its kernel-irqchip kernel_irqchip max-cpu-compat max-ram-below-4g mem-merge mte pcspk-audiodev
  pic pit ras rtc sata secure smbus smm suppress-vmdesc type usb virtualization vmport x-oem-id x-oem-table-id`,
);

const smbiosText = (names: string): [string, RegExp][] => keysOf(names, text);

/** Backends that lead nowhere, or to the console of the node. Their `logfile` is left out. */
const chardev = variants('backend', {
  msmouse: keysOf('id', word),
  null: keysOf('id mux', word),
  'qemu-vdagent': keysOf('id clipboard mouse', word),
  spiceport: keysOf('id name debug', word),
  spicevmc: keysOf('id name debug', word),
  vc: keysOf('id width height cols rows mux', word),
});

const object = variants('qom-type', {
  'can-bus': keysOf('id', word),
  'cryptodev-backend-builtin': keysOf('id queues', word),
  iothread: keysOf('id poll-max-ns poll-grow poll-shrink aio-max-batch', word),
  'memory-backend-ram': keysOf('id size merge dump prealloc prealloc-threads share reserve policy host-nodes', word),
  'rng-builtin': keysOf('id', word),
  'rng-random': [
    ['id', word],
    ['filename', /^\/dev\/u?random$/],
  ],
  // The key of an encrypted image, as text: `file` is left out.
  secret: [
    ['id', text],
    ['data', text],
    ['format', /^(?:raw|base64)$/],
  ],
  'throttle-group': keysOf('id', word),
});

const smbios = variants('type', {
  0: smbiosText('vendor version date release uefi'),
  1: smbiosText('manufacturer product version serial uuid sku family'),
  2: smbiosText('manufacturer product version serial asset location'),
  3: smbiosText('manufacturer version serial asset sku'),
  4: smbiosText('sock_pfx manufacturer version serial asset part max-speed current-speed processor-id'),
  8: smbiosText('internal_reference external_reference connector_type port_type'),
  11: smbiosText('value'),
  17: smbiosText('loc_pfx bank manufacturer serial asset part speed'),
  41: smbiosText('designation kind instance pcidev'),
});

const numa = variants('type', {
  node: keysOf('nodeid cpus mem memdev initiator', word),
  dist: keysOf('src dst val', word),
  cpu: keysOf('node-id socket-id die-id core-id thread-id', word),
});

export const optionTable: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...flags.split(/\s+/).map((name): [string, Rule] => [name, { form: 'flag' }]),
  [
    'accel',
    keys(
      'accel',
      'accel dirty-ring-size igd-passthru kernel-irqchip kvm-shadow-mem notify-vmexit one-insn-per-tb split-wx tb-size thread',
    ),
  ],
  ['action', keys(undefined, 'reboot shutdown panic watchdog')],
  ['append', value(/^[^\0]*$/)],
  ['audio', variants('driver', { none: keysOf('model', word) })],
  ['audiodev', variants('driver', { none: keysOf('id', word) })],
  ['balloon', value(/^(?:none|virtio)$/)],
  ['boot', keys('order', 'order once menu splash-time reboot-timeout strict')],
  ['chardev', chardev],
  // Feature flags of processors are hundreds; none names anything of the host.
  ['cpu', value(/^[\w.+-]+(?:,[+-]?[\w.-]+(?:=[\w.:+ -]*)?)*$/)],
  ['device', { form: 'variants', selector: 'driver', variants: deviceVariants }],
  ['display', value(/^none$/)],
  ['echr', value(/^\w+$/)],
  ['fw_cfg', keys('name', 'string', text, [['name', /^opt\/[\w./-]+$/]])],
  ['g', value(/^\d+x\d+(?:x\d+)?$/)],
  // A file of the node's folder is taken first; since QEMU 3 it cannot lead to another one.
  ['k', value(/^[a-z]{2}(?:-[a-z]{2})?$/)],
  ['icount', keys('shift', 'shift align sleep')],
  ['m', keys('size', 'size slots maxmem')],
  ['M', machine],
  ['machine', machine],
  ['monitor', value(/^(?:none|null|vc)$/)],
  ['msg', keys(undefined, 'timestamp guest-name')],
  ['name', keys('guest', 'guest', text, [['debug-threads', word]])],
  ['net', value(/^none$/)],
  ['numa', numa],
  ['object', object],
  ['overcommit', keys(undefined, 'cpu-pm')],
  ['parallel', value(/^(?:none|null|vc)$/)],
  ['prom-env', value(/^[\w?-]+=[^\p{Cc}]*$/u)],
  ['realtime', value(/^mlock=off$/)],
  ['rotate', value(/^\d+$/)],
  ['rtc', keys('base', 'base clock driftfix')],
  ['seed', value(/^\d+$/)],
  // Standard input and output of the machine are nothing and its log.
  ['serial', value(/^(?:none|null|vc(?::\d+C?x\d+C?)?|stdio|mon:stdio)$/)],
  ['smbios', smbios],
  ['smp', keys('cpus', 'cpus maxcpus sockets dies clusters cores threads')],
  [
    'spice',
    keys(
      undefined,
      `agent-mouse disable-agent-file-xfer disable-copy-paste image-compression jpeg-wan-compression playback-compression
    seamless-migration streaming-video zlib-glz-wan-compression`,
    ),
  ],
  ['tb-size', value(/^\d+$/)],
  ['usbdevice', value(/^(?:keyboard|mouse|tablet|wacom-tablet)$/)],
  ['uuid', value(/^[0-9a-fA-F-]{36}$/)],
  ['vga', value(/^(?:cg3|cirrus|none|qxl|std|tcx|virtio|vmware|xenfb)$/)],
  ['vnc', value(/^none$/)],
  ['watchdog', value(/^(?:diag288|i6300esb|ib700)$/)],
  ['watchdog-action', value(/^[a-z-]+$/)],
]);
