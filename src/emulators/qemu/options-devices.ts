/**
 * Devices that a user of a shared server may add by `-device` and tune by `-global`. Left out is what passes a device, a file, a socket or
 * a service of the host to the guest: vfio-*, usb-host, usb-redir, vhost-*, virtio-9p-*, ivshmem-*, scsi-generic, scsi-block, loader, and
 * sound, which opens the host's. New devices of QEMU are refused until they stand here.
 */
import type { Keys } from './options-rules.ts';

/** Names, numbers, sizes, addresses: no path, no blank. */
export const word = /^[\w.:+-]*$/;
/** Text that only the guest reads. */
export const text = /^[^\p{Cc}]{0,200}$/u;

export const keysOf = (names: string, pattern: RegExp): [string, RegExp][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, pattern]);

const devices = `
  e1000 e1000-82544gc e1000-82545em e1000e igb i82550 i82551 i82557a i82557b i82557c i82558a i82558b i82559a i82559b i82559c
  i82559er i82562 i82801 ne2k_pci ne2k_isa pcnet rocker rtl8139 tulip usb-net virtio-net virtio-net-pci
  virtio-net-pci-non-transitional virtio-net-pci-transitional virtio-net-device virtio-net-ccw vmxnet3
  dec-21154-p2p-bridge i82801b11-bridge ioh3420 pci-bridge pcie-pci-bridge pcie-root-port pxb pxb-pcie x3130-upstream
  xio3130-downstream
  ich9-usb-ehci1 ich9-usb-ehci2 ich9-usb-uhci1 ich9-usb-uhci2 ich9-usb-uhci3 ich9-usb-uhci4 ich9-usb-uhci5 ich9-usb-uhci6
  nec-usb-xhci pci-ohci piix3-usb-uhci piix4-usb-uhci qemu-xhci usb-ehci usb-hub vt82c686b-usb-uhci
  usb-kbd usb-mouse usb-tablet usb-wacom-tablet virtio-keyboard virtio-keyboard-device virtio-keyboard-pci virtio-mouse
  virtio-mouse-device virtio-mouse-pci virtio-tablet virtio-tablet-device virtio-tablet-pci
  VGA bochs-display cirrus-vga qxl qxl-vga ramfb secondary-vga virtio-gpu virtio-gpu-device virtio-gpu-pci virtio-vga vmware-svga
  ahci am53c974 dc390 floppy ich9-ahci ide-cd ide-hd isa-ide lsi lsi53c810 lsi53c895a megasas megasas-gen2 mptsas1068 nvme
  piix3-ide piix4-ide pvscsi scsi-cd scsi-hd sd-card sdhci-pci usb-storage virtio-blk virtio-blk-device virtio-blk-pci
  virtio-blk-pci-non-transitional virtio-blk-pci-transitional virtio-scsi virtio-scsi-device virtio-scsi-pci
  virtio-scsi-pci-non-transitional virtio-scsi-pci-transitional
  isa-serial pci-serial pci-serial-2x pci-serial-4x usb-serial virtconsole virtio-serial virtio-serial-device virtio-serial-pci
  virtio-serial-pci-non-transitional virtio-serial-pci-transitional virtserialport
  virtio-balloon virtio-balloon-device virtio-balloon-pci virtio-rng virtio-rng-device virtio-rng-pci virtio-iommu-pci
  amd-iommu intel-iommu diag288 edu i6300esb ib700 isa-applesmc isa-debug-exit isa-debugcon pc-dimm pc-testdev pci-testdev
  pvpanic pvpanic-pci sga vmcoreinfo vmgenid vmmouse vmport`;

/**
 * Properties that name nothing of the host for any of these devices; the drive, netdev or chardev that they refer to is declared elsewhere.
 */
const properties = `
  id acpi-index bypass_iommu ioeventfd num-ports cyls heads secs bios-chs-trans port_wwn dma-translation
  bus addr multifunction bootindex rombar port chassis chassis_nr slot hotplug shpc msi msix function
  x-speed x-width power_controller_present io-reserve mem-reserve pref64-reserve pref32-reserve bus-reserve bus_nr numa_node
  mac netdev vectors mq rss event_idx indirect_desc csum gso guest_csum guest_tso4 guest_tso6 guest_ecn guest_ufo host_tso4 host_tso6
  host_ecn host_ufo mrg_rxbuf status ctrl_vq ctrl_rx ctrl_vlan ctrl_mac_addr ctrl_guest_offloads speed duplex host_mtu tx
  x-txtimer x-txburst rx_queue_size tx_queue_size queue_reset packed iommu_platform ats any_layout disable-legacy disable-modern
  page-per-vq notify_on_empty autonegotiation mitigation extra_mac_registers init-vet subsys_ven subsys x-old-msi-offsets
  x-disable-pcie
  drive unit ver wwn scsi-id lun channel logical_block_size physical_block_size discard_granularity min_io_size opt_io_size
  max_unmap_size max_io_size rotation_rate write-cache share-rw rerror werror dpofua discard write-zeroes config-wce request-merging
  scsi queue-size seg-max-adjust num-queues num_queues virtqueue_size max_sectors cmd_per_lun hba_serial use_jbod use_msi
  max_ioqpairs mdts cmb_size_mb drive-type removable lba port_index device_id product_id
  chardev nr iobase iosize irq index wakeup max_ports emergency-write readback
  vgamem_mb ram_size ram_size_mb vram_size vram_size_mb vram64_size_mb max_outputs xres yres xmax ymax edid head display mmio
  big-endian-framebuffer virgl blob refresh_rate surfaces cmdlog revision
  usb_version p2 p3 intr intrs slots streams masterbus firstport maxframes attached
  rng max-bytes period deflate-on-oom free-page-reporting memdev node memaddr iothread
  intremap caching-mode device-iotlb eim aw-bits snoop-control dma-drain xtsup pt guid events ioport`;

const shared: Keys = new Map([
  ...keysOf(properties, word),
  // Strings that the guest sees.
  ...keysOf('serial model vendor product name osk', text),
  // "romfile=" without a value means no option ROM; with one it is a file of the host.
  ['romfile', /^$/],
]);

export const deviceVariants: ReadonlyMap<string, Keys> = new Map(
  devices
    .trim()
    .split(/\s+/)
    .map((name) => [name, shared]),
);

/** Parts of every machine, which only `-global` reaches. */
const builtIn: Readonly<Record<string, string>> = {
  'ICH9-LPC': 'disable_s3 disable_s4 s4_val noreboot acpi-pci-hotplug-with-bridge-support',
  PIIX4_PM: 'disable_s3 disable_s4 s4_val acpi-pci-hotplug-with-bridge-support acpi-root-pci-hotplug',
  'kvm-pit': 'lost_tick_policy',
  'kvm-apic': 'vapic',
  'isa-pit': 'lost_tick_policy',
  mc146818rtc: 'lost_tick_policy base_year',
  hpet: 'msi timers',
  i8042: 'extended-state',
  'cfi.pflash01': 'secure',
  'isa-fdc': 'fallback',
  mch: 'extended-tseg-mbytes',
  'q35-pcihost': 'pci-hole64-size',
  'i440FX-pcihost': 'pci-hole64-size',
};

export const globalVariants: ReadonlyMap<string, Keys> = new Map([
  ...deviceVariants,
  ...Object.entries(builtIn).map(([name, names]): [string, Keys] => [name, new Map(keysOf(names, word))]),
]);
