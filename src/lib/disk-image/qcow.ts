/**
 * Reads headers of qcow2 (versions 2 and 3) and qcow (version 1): the backing file, its format, and an external data file, which is
 * refused.
 */
import { type Backing, type DiskImage, DiskImageError, ForeignReferenceError, type ReadAt } from './image.ts';

/** Lengths of headers: version 2, and the minimum of version 3. */
const fixedLength = { 2: 72, 3: 104 } as const;
/** Longest backing file name that QEMU accepts. */
const longestName = 1023;
const extensionEnd = 0;
const extensionBackingFormat = 0xe2792aca;
const extensionDataFile = 0x44415441;
/** Incompatible feature: the data is in another file. */
const externalData = 1n << 2n;

/** @throws DiskImageError */
export async function readQcow(head: Buffer, read: ReadAt): Promise<DiskImage> {
  if (head.length < fixedLength[2]) throw new DiskImageError('its header is cut off');
  const version = head.readUInt32BE(4);
  const name = await backingName(head, read);
  if (version === 1) return { format: 'qcow', ...(name !== undefined && { backing: { file: name, format: undefined } }) };
  if (version !== 2 && version !== 3) throw new DiskImageError(`qcow has no version ${version}`);
  const format = await readExtensions(head, version, read);
  const backing: Backing | undefined = name === undefined ? undefined : { file: name, format };
  return { format: 'qcow2', ...(backing && { backing }) };
}

async function backingName(head: Buffer, read: ReadAt): Promise<string | undefined> {
  const offset = head.readBigUInt64BE(8);
  const length = head.readUInt32BE(16);
  if (offset === 0n || length === 0) {
    if (offset === 0n && length === 0) return undefined;
    // QEMU reads a name wherever an offset is given; whether it accepts an empty name differs between its versions.
    if (offset === 0n) return undefined;
    throw new DiskImageError('its backing file has no name');
  }
  if (length > longestName || offset > BigInt(largestCluster)) throw new DiskImageError('the name of its backing file is too long');
  const bytes = await read(Number(offset), length);
  const name = bytes.toString('utf8');
  if (bytes.length < length || !Buffer.from(name).equals(bytes) || /\p{Cc}/u.test(name)) {
    throw new DiskImageError('the name of its backing file is not text');
  }
  return name;
}

/** Largest cluster, 2 MiB; the header's extensions lie in the first cluster. */
const largestClusterBits = 21;
const largestCluster = 2 ** largestClusterBits;

/** Returns the format of the backing file if an extension names it. */
async function readExtensions(head: Buffer, version: 2 | 3, read: ReadAt): Promise<string | undefined> {
  const bits = head.readUInt32BE(20);
  if (bits < 9 || bits > largestClusterBits) throw new DiskImageError(`clusters of 2^${bits} bytes are not possible`);
  const start = version === 2 ? fixedLength[2] : checkVersion3(head);
  const nameAt = Number(head.readBigUInt64BE(8));
  // The extensions end at the name of the backing file, or with the cluster.
  const end = nameAt === 0 ? 2 ** bits : Math.min(nameAt, 2 ** bits);
  const bytes = await read(0, end);
  let format: string | undefined;
  for (let at = start; at + 8 <= bytes.length; ) {
    const type = bytes.readUInt32BE(at);
    const length = bytes.readUInt32BE(at + 4);
    if (type === extensionEnd) return format;
    if (length > bytes.length - at - 8) throw new DiskImageError('an extension of its header is longer than the header');
    if (type === extensionDataFile) throw externalDataError();
    if (type === extensionBackingFormat) {
      if (format !== undefined) throw new DiskImageError('it names the format of its backing file twice');
      format = bytes.toString('latin1', at + 8, at + 8 + length);
    }
    at += 8 + Math.ceil(length / 8) * 8;
  }
  return format;
}

/** Checks a header of version 3 and returns its length. */
function checkVersion3(head: Buffer): number {
  if (head.length < fixedLength[3]) throw new DiskImageError('its header is cut off');
  if ((head.readBigUInt64BE(72) & externalData) !== 0n) throw externalDataError();
  const length = head.readUInt32BE(100);
  if (length < fixedLength[3] || length > largestCluster) throw new DiskImageError(`a header of ${length} bytes is not possible`);
  return length;
}

const externalDataError = () =>
  new ForeignReferenceError('its data is in another file (external data file): convert it (qemu-img convert -O qcow2)');
