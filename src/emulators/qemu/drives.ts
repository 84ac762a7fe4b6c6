/** Drives of a machine as arguments. The table of interfaces is GNS3's. */
import { hasFeature } from './features.ts';
import type { ChainLink } from './image-chain.ts';
import { escapeCommas } from './options.ts';
import type { Version } from './version.ts';

/** A disk as it is attached, with its file found and made. */
export interface Drive {
  /** 0 for hda to 3 for hdd. */
  readonly index: number;
  /** Absolute. */
  readonly file: string;
  readonly format: string;
  readonly interface: string;
  /** Backing chain of the file, nearest image first. */
  readonly backing: readonly ChainLink[];
}

export function driveArguments({ index, file, format, interface: bus, backing }: Drive, version: Version): string[] {
  const id = `drive${index}`;
  const source = `file=${escapeCommas(file)},format=${format}${backing.map(backingOptions).join('')}`;
  const unattached = `${source},if=none,id=${id},index=${index},media=disk`;
  if (bus === 'sata') {
    const disk = hasFeature(version, 'ideDisk') ? 'ide-hd' : 'ide-drive';
    return ['-device', `ahci,id=ahci${index}`, '-drive', unattached, '-device', `${disk},drive=${id},bus=ahci${index}.0,id=${id}`];
  }
  if (bus === 'nvme') return ['-drive', unattached, '-device', `nvme,drive=${id},serial=${index}`];
  if (bus === 'scsi') {
    return ['-device', `virtio-scsi-pci,id=scsi${index}`, '-drive', unattached, '-device', `scsi-hd,drive=${id}`];
  }
  return ['-drive', `${source},if=${escapeCommas(bus || 'none')},index=${index},media=disk,id=${id}`];
}

/** Names a backing file and its format, so that those of the image's own header do not count. */
function backingOptions({ file, format, keySecret }: ChainLink, depth: number): string {
  const prefix = 'backing.'.repeat(depth + 1);
  const key = keySecret === undefined ? '' : `,${prefix}encrypt.key-secret=${escapeCommas(keySecret)}`;
  return `,${prefix}driver=${format},${prefix}file.driver=file,${prefix}file.filename=${escapeCommas(file)}${key}`;
}

/** Drives that take a slot of the PCI bus. */
export function pciDrives(drives: readonly Drive[]): number {
  return drives.filter(({ interface: bus }) => bus !== 'none' && bus !== 'ide' && bus !== '').length;
}
