/** Disks that GNS3 3's clients have made: their options in `/v3`, and those of `qemu-img`. */
import { named, oneOf } from '../../../schema/common.ts';
import { type Static, Type } from '../../../schema/type.ts';

const onOff = () => Type.Optional(oneOf(['on', 'off']));
const subformats = [
  'dynamic',
  'fixed',
  'streamOptimized',
  'twoGbMaxExtentSparse',
  'twoGbMaxExtentFlat',
  'monolithicSparse',
  'monolithicFlat',
] as const;

/** MiB; the largest number of bytes that QEMU takes is 2^63 - 1. */
const mebibytes = (minimum: number) => Type.Integer({ minimum, maximum: 2 ** 42 });

export const DiskImageCreate = Type.Object(
  {
    // GNS3 3 spells VMDK so.
    format: oneOf(['qcow2', 'qcow', 'vpc', 'vdi', 'vdmk', 'vmdk', 'raw']),
    size: mebibytes(0),
    preallocation: Type.Optional(oneOf(['off', 'metadata', 'falloc', 'full'])),
    cluster_size: Type.Optional(Type.Integer()),
    refcount_bits: Type.Optional(Type.Integer()),
    lazy_refcounts: onOff(),
    subformat: Type.Optional(oneOf(subformats)),
    static: onOff(),
    zeroed_grain: onOff(),
    adapter_type: Type.Optional(oneOf(['ide', 'lsilogic', 'buslogic', 'legacyESX'])),
  },
  named('QemuDiskImageCreate'),
);

export const DiskImageUpdate = Type.Object({ extend: Type.Optional(mebibytes(1)) }, named('QemuDiskImageUpdate'));

/** Returns the options in the spelling of `qemu-img`. */
export function diskOptions({ format, ...options }: Static<typeof DiskImageCreate>) {
  return { ...options, format: format === 'vdmk' ? 'vmdk' : format };
}
