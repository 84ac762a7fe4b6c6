/** Files in one archive. Source: POSIX.1-2024, pax, "ustar Interchange Format" and "pax Extended Header". */
const blockBytes = 512;
/** Length limit of a name in the `ustar` format. Longer names are stored in an extended header. Bytes. */
const longestName = 100;

export interface TarEntry {
  readonly name: string;
  readonly modifiedMs: number;
  readonly content: Blob;
}

export function tarOf(entries: readonly TarEntry[]): Blob {
  const parts = entries.flatMap((entry) => {
    const isLong = new TextEncoder().encode(entry.name).length > longestName;
    return [...(isLong ? member(extendedHeader(entry), 'x') : []), ...member(entry, '0')];
  });
  return new Blob([...parts, new Uint8Array(2 * blockBytes)], { type: 'application/x-tar' });
}

const member = (entry: TarEntry, type: '0' | 'x') => [
  headerOf(entry, type),
  entry.content,
  new Uint8Array((blockBytes - (entry.content.size % blockBytes)) % blockBytes),
];

/** The path of the next member. A record begins with its own length, in digits that count, too. */
function extendedHeader({ name, modifiedMs }: TarEntry): TarEntry {
  const record = ` path=${name}\n`;
  const { length } = new TextEncoder().encode(record);
  let total = length;
  while (total !== length + String(total).length) total = length + String(total).length;
  return { name: 'path', modifiedMs, content: new Blob([`${total}${record}`]) };
}

function headerOf({ name, modifiedMs, content }: TarEntry, type: '0' | 'x'): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(blockBytes);
  const put = (at: number, text: string) => header.set(new TextEncoder().encode(text), at);
  const octal = (value: number, digits: number) => Math.max(0, Math.floor(value)).toString(8).padStart(digits, '0');
  header.set(new TextEncoder().encode(name).subarray(0, longestName));
  put(100, '0000644\0');
  put(108, '0000000\0');
  put(116, '0000000\0');
  put(124, `${octal(content.size, 11)}\0`);
  put(136, `${octal(modifiedMs / 1000, 11)}\0`);
  put(148, ' '.repeat(8));
  put(156, type);
  put(257, 'ustar\0');
  put(263, '00');
  put(
    148,
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
  );
  return header;
}
