/** Writes a cpio archive in "newc" format, which the Linux kernel unpacks as its first root (Documentation/driver-api/early-userspace/buffer-format.rst). */

export type CpioEntry =
  | { path: string; type: 'directory' }
  | { path: string; type: 'file'; data: Uint8Array; executable?: boolean }
  | { path: string; type: 'link'; target: string }
  | { path: string; type: 'character-device'; major: number; minor: number };

const formatBits = { directory: 0o040755, file: 0o100644, link: 0o120777, 'character-device': 0o020600 } as const;

/** The archive, uncompressed. A folder must precede its files. */
export function cpio(entries: readonly CpioEntry[]): Buffer {
  const parts: Buffer[] = [];
  for (const [index, entry] of entries.entries()) {
    const mode = formatBits[entry.type] | (entry.type === 'file' && entry.executable ? 0o111 : 0);
    const device = entry.type === 'character-device' ? [entry.major, entry.minor] : [0, 0];
    parts.push(record({ inode: index + 1, mode, device, path: entry.path, data: content(entry) }));
  }
  parts.push(record({ inode: 0, mode: 0, device: [0, 0], path: 'TRAILER!!!', data: new Uint8Array() }));
  return Buffer.concat(parts);
}

function content(entry: CpioEntry): Uint8Array {
  if (entry.type === 'file') return entry.data;
  return entry.type === 'link' ? Buffer.from(entry.target) : new Uint8Array();
}

interface CpioRecord {
  inode: number;
  mode: number;
  device: number[];
  path: string;
  data: Uint8Array;
}

function record({ inode, mode, device, path, data }: CpioRecord): Buffer {
  const name = Buffer.from(`${path}\0`);
  const [major = 0, minor = 0] = device;
  // inode, mode, uid, gid, links, mtime, size, device of the file (2), device of a special file (2), length of the name, checksum
  const fields = [inode, mode, 0, 0, 1, 0, data.length, 0, 0, major, minor, name.length, 0];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`);
  return Buffer.concat([header, name, padding(header.length + name.length), data, padding(data.length)]);
}

/** Header with name, and data, each padded to a multiple of four bytes. */
function padding(length: number): Buffer {
  return Buffer.alloc((4 - (length % 4)) % 4);
}
