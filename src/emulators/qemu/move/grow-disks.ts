import { fault } from '../../../api/faults.ts';
import type { MoveOffer } from '../../../schema/move.ts';
import type { CheckedMachine } from '../check-machine.ts';
import type { Disk } from '../disks.ts';
import type { QemuFacilities } from '../facilities.ts';
import { imgFor } from '../find-files.ts';

const mebibyte = 1 << 20;

/** A disk that was made larger where the machine runs is made larger here. @throws move_refused, qemu_failed */
export async function growDisks(
  { properties }: Pick<CheckedMachine, 'properties'>,
  disks: readonly Disk[],
  { drives }: MoveOffer,
  facilities: Pick<QemuFacilities, 'binaries' | 'tools'>,
): Promise<void> {
  if (disks.length === 0) return;
  const img = await imgFor(properties.qemu_path, facilities);
  for (const disk of disks) {
    const wanted = drives.find(({ name }) => name === `drive${disk.index}`)?.bytes;
    // This size is the one of a linked clone.
    const { virtualSize } = await img.info(disk.file, 'qcow2');
    const missing = ((wanted ?? 0) - virtualSize) / mebibyte;
    if (missing === 0) continue;
    const reason = `its disk drive${disk.index} has ${wanted ?? 'no'} bytes, and its image has ${virtualSize}`;
    if (missing < 0 || !Number.isInteger(missing)) throw fault('move_refused', { name: properties.hda_disk_image, reason });
    await img.grow(disk, missing, 'qcow2');
  }
}
