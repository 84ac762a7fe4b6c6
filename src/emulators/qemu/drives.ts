/** Drives of a machine as arguments. The table of interfaces is the established one. */
import { escapeCommas } from './options.ts';
import { atLeast, type Version } from './version.ts';

/** A disk as it is attached, with its file found and made. */
export interface Drive {
  /** 0 for hda to 3 for hdd. */
  readonly index: number;
  /** Absolute. */
  readonly file: string;
  readonly format: string;
  readonly interface: string;
}

export function driveArguments({ index, file, format, interface: bus }: Drive, version: Version): string[] {
  const id = `drive${index}`;
  const source = `file=${escapeCommas(file)},format=${format}`;
  const unattached = `${source},if=none,id=${id},index=${index},media=disk`;
  if (bus === 'sata') {
    const disk = atLeast(version, 4, 2) ? 'ide-hd' : 'ide-drive';
    return ['-device', `ahci,id=ahci${index}`, '-drive', unattached, '-device', `${disk},drive=${id},bus=ahci${index}.0,id=${id}`];
  }
  if (bus === 'nvme') return ['-drive', unattached, '-device', `nvme,drive=${id},serial=${index}`];
  if (bus === 'scsi') {
    return ['-device', `virtio-scsi-pci,id=scsi${index}`, '-drive', unattached, '-device', `scsi-hd,drive=${id}`];
  }
  return ['-drive', `${source},if=${escapeCommas(bus || 'none')},index=${index},media=disk,id=${id}`];
}

/** Drives that take a slot of the PCI bus. */
export function pciDrives(drives: readonly Drive[]): number {
  return drives.filter(({ interface: bus }) => bus !== 'none' && bus !== 'ide' && bus !== '').length;
}
