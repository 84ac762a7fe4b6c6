/**
 * The NVRAM file of IOU. Its first half holds the startup configuration behind a header of 36 bytes, then the private configuration
 * behind one of 16, then free space, then files in blocks of 1,024 bytes that grow from the end of the half downwards. All numbers are
 * big-endian.
 * @see https://git.bernhard-ehlers.de/ehlers/IOUtools/src/branch/master/NVRAM.md
 */
import { unpackLzw } from './lzw.ts';

export interface NvramConfigs {
  /** Undefined: there is none. */
  readonly startup: Buffer | undefined;
  readonly private: Buffer | undefined;
}

export class NvramError extends Error {}

/** Startup header: magic, format, checksum, IOS version, start, end and length of the configuration, then facts of packed ones. */
const startupMagic = 0xabcd;
const startupHeader = { bytes: 36, format: 2, checksum: 4, version: 6, start: 8, end: 12, length: 16 };
/** Private header: magic, format, start, end, length. */
const privateMagic = 0xfedc;
const privateHeader = { bytes: 16, format: 2, start: 4, end: 8, length: 12 };
const rawFormat = 1;
const packedFormat = 2;
/** Addresses in the headers count from here, where IOS sees its NVRAM. */
const baseAddress = 0x10000000;
/** IOS version in an NVRAM that no IOS has written: 15.4. */
const defaultVersion = 0x0f04;
const fileMagic = 0xdcba;
const fileBytes = 1024;
/** Size of an NVRAM from which 4 bytes more lie between the configurations when the first one is padded. */
const extraPaddingFrom = 128 * 1024;

/** Far more than IOS can have. Guests write it, and unpacking so much takes 60 ms at worst. */
const maxUnpackedBytes = 1024 * 1024;

/** @throws NvramError, LzwError when it is damaged; an empty one has no configurations */
export function readNvram(bytes: Buffer): NvramConfigs {
  if (bytes.length < startupHeader.bytes || bytes.readUInt16BE(0) !== startupMagic)
    return { startup: undefined, private: undefined };
  const end = startupEnd(bytes);
  const packed = bytes.subarray(startupHeader.bytes, end);
  const format = bytes.readUInt16BE(startupHeader.format);
  if (format !== rawFormat && format !== packedFormat)
    throw new NvramError(`its startup configuration has the unknown format ${format}`);
  const startup = format === packedFormat ? unpack(packed) : Buffer.from(packed);
  return { startup, private: readPrivate(bytes, end) };
}

function unpack(packed: Buffer): Buffer {
  if (packed.length > maxUnpackedBytes) throw new NvramError(`its packed configuration has more than ${maxUnpackedBytes} bytes`);
  return unpackLzw(packed, maxUnpackedBytes);
}

function startupEnd(bytes: Buffer): number {
  const end = startupHeader.bytes + bytes.readUInt32BE(startupHeader.length);
  if (end > bytes.length) throw new NvramError('its startup configuration is longer than the file');
  return end;
}

function findPrivate(bytes: Buffer, startup: number): number | undefined {
  const aligned = align(startup);
  return [aligned, aligned + 4].find((at) => at + privateHeader.bytes <= bytes.length && bytes.readUInt16BE(at) === privateMagic);
}

function readPrivate(bytes: Buffer, startup: number): Buffer | undefined {
  const at = findPrivate(bytes, startup);
  if (at === undefined || bytes.readUInt16BE(at + privateHeader.format) !== rawFormat) return undefined;
  const from = at + privateHeader.bytes;
  const end = from + bytes.readUInt32BE(at + privateHeader.length);
  if (end > bytes.length) throw new NvramError('its private configuration is longer than the file');
  return Buffer.from(bytes.subarray(from, end));
}

/**
 * An NVRAM with these configurations and the files of the old one.
 * @throws NvramError when they do not fit
 */
export function writeNvram(
  configs: NvramConfigs,
  { size, old }: { readonly size: number; readonly old?: Buffer | undefined },
): Buffer {
  const bytes = Buffer.alloc(old?.length || size);
  const half = bytes.length >> 1;
  const files = old === undefined ? half : filesStart(old, half);
  old?.copy(bytes, files, files);
  const startup = configs.startup ?? Buffer.alloc(0);
  const startupStop = startupHeader.bytes + startup.length;
  const aligned = align(startupStop);
  const privateAt = aligned + (aligned !== startupStop && bytes.length >= extraPaddingFrom ? 4 : 0);
  const secret = configs.private ?? Buffer.alloc(0);
  const end = privateAt + privateHeader.bytes + secret.length;
  if (end > files) throw new NvramError(`its configurations need ${end} bytes, and ${files} are free`);
  bytes.writeUInt16BE(startupMagic, 0);
  bytes.writeUInt16BE(rawFormat, startupHeader.format);
  bytes.writeUInt16BE(isWritten(old) ? old.readUInt16BE(startupHeader.version) : defaultVersion, startupHeader.version);
  bytes.writeUInt32BE(baseAddress + startupHeader.bytes, startupHeader.start);
  bytes.writeUInt32BE(baseAddress + startupStop, startupHeader.end);
  bytes.writeUInt32BE(startup.length, startupHeader.length);
  startup.copy(bytes, startupHeader.bytes);
  const from = privateAt + privateHeader.bytes;
  bytes.writeUInt16BE(privateMagic, privateAt);
  bytes.writeUInt16BE(rawFormat, privateAt + privateHeader.format);
  bytes.writeUInt32BE(baseAddress + from, privateAt + privateHeader.start);
  bytes.writeUInt32BE(baseAddress + end, privateAt + privateHeader.end);
  bytes.writeUInt32BE(secret.length, privateAt + privateHeader.length);
  secret.copy(bytes, from);
  bytes.writeUInt16BE(nvramChecksum(bytes), startupHeader.checksum);
  return bytes;
}

/** Whether IOS has written this one. */
function isWritten(old: Buffer | undefined): old is Buffer {
  return old !== undefined && old.length >= startupHeader.bytes && old.readUInt16BE(0) === startupMagic;
}

/** Where the lowest block of a file begins; blocks between files may be empty. */
function filesStart(old: Buffer, half: number): number {
  let configsEnd = 0;
  if (isWritten(old)) {
    const startup = startupEnd(old);
    const at = findPrivate(old, startup);
    configsEnd = at === undefined ? startup : at + privateHeader.bytes + old.readUInt32BE(at + privateHeader.length);
  }
  let lowest = half;
  for (let at = half - fileBytes; at >= configsEnd; at -= fileBytes) if (old.readUInt16BE(at) === fileMagic) lowest = at;
  return lowest;
}

/** The Internet checksum (RFC 1071) of the first half without the field of the checksum itself. */
export function nvramChecksum(bytes: Buffer): number {
  let sum = 0;
  const end = (bytes.length >> 1) & ~1;
  for (let at = 0; at < end; at += 2) if (at !== startupHeader.checksum) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return sum ^ 0xffff;
}

function align(at: number): number {
  return (at + 3) & ~3;
}
