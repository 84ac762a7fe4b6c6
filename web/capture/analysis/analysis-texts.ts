/** Texts of the analysis of captures, loaded with it. */
const number = (value: number) => value.toLocaleString('en');
const plural = (count: number, one: string, several: string) => `${number(count)} ${count === 1 ? one : several}`;
const milliseconds = (ms: number) => `${ms.toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 })} ms`;

export const analysisTexts = {
  milliseconds,
  follow: 'Follow TCP stream',
  path: 'Path of this frame',
  statistics: 'Statistics by protocol',
  working: (count: number) => `Reading: ${plural(count, 'packet', 'packets')} …`,
  stream: {
    title: (one: string, other: string) => `${one} ⇄ ${other}`,
    direction: 'Direction',
    both: 'Both directions',
    from: (one: string, other: string) => `${one} → ${other}`,
    form: 'Shown as',
    forms: { text: 'Text', hex: 'Hex' },
    save: 'Save the bytes',
    bytes: (count: number) => plural(count, 'byte', 'bytes'),
    missing: (count: number) => `${plural(count, 'byte is', 'bytes are')} missing in the capture`,
    empty: 'This stream carries no data.',
    cut: (bytes: number) => `Only the first ${number(bytes)} bytes are shown here; saving stores all that were read.`,
    limited: (bytes: number) => `Only the first ${number(bytes)} bytes were read.`,
    summary: (packets: number, bytes: readonly [number, number]) =>
      `${plural(packets, 'packet', 'packets')}, ${number(bytes[0])} and ${number(bytes[1])} bytes`,
  },
  table: {
    columns: ['Protocol', 'Packets', 'Share', 'Bytes', 'Share of bytes'],
    note: (shown: number, isFiltered: boolean, forgotten: number) =>
      [
        `${plural(shown, 'packet', 'packets')}${isFiltered ? ' that match the display filter' : ''}.`,
        'A protocol counts the packets of all protocols inside it.',
        forgotten > 0 ? `The oldest ${number(forgotten)} are only in the file.` : '',
      ]
        .filter(Boolean)
        .join(' '),
    percent: (part: number) => `${(part * 100).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} %`,
    empty: 'There are no packets.',
  },
  frame: {
    title: (packet: number) => `Path of packet ${packet}`,
    note: 'The captures of this project that hold the same frame, in the order of time. A frame is the same if only its MAC addresses, VLAN tags, TTL or hop limit, and header checksum differ.',
    searching: (done: number) => `Searched ${plural(done, 'capture', 'captures')} …`,
    alone: 'No other capture of this project holds this frame. Capture on the links along its way, then send it again.',
    first: 'first seen',
    later: (ms: number) => `+${milliseconds(ms)}`,
    here: 'this packet',
    ttl: (hops: number) => `TTL ${hops}`,
    copies: (count: number) => `${number(count)} equal frames: the nearest in time is shown`,
    remote: (count: number) => `${plural(count, 'capture', 'captures')} could not be read.`,
    limited: 'Large captures were searched in part.',
    total: (ms: number) => `From first to last: ${milliseconds(ms)}`,
    clocks: 'Times of captures on different computes differ by their clocks.',
  },
  files: {
    downloadAll: 'Download all',
    tooLarge: (most: string) => `The captures are larger than ${most}: download them one by one.`,
    packing: (done: number, all: number) => `${done} of ${all} …`,
  },
} as const;
