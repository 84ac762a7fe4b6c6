/** Encodes the lines of a journal: a checksum (CRC-32, 8 hexadecimal digits), a space, and a record as JSON. */
import { crc32 } from 'node:zlib';
import { mapInTurns, Turns } from './turns.ts';

const newline = 10;
const [opensList, quote, backslash, comma] = Buffer.from('["\\,');
const opening: ReadonlySet<number | undefined> = new Set(Buffer.from('[{'));
const closing: ReadonlySet<number | undefined> = new Set(Buffer.from(']}'));
/** Length of the checksum and the space before the record. */
const headLength = 9;
/** Longer lists are parsed in short turns. Bytes. */
const longList = 256 * 1024;

export function encode(record: unknown): string {
  const text = JSON.stringify(record);
  return `${hexOf(crc32(text))} ${text}\n`;
}

const hexOf = (sum: number) => sum.toString(16).padStart(8, '0');

/** Encodes records in short turns, because they may be a whole map's. */
export async function encodeAll(records: readonly unknown[]): Promise<Buffer> {
  const turns = new Turns();
  const lines: Buffer[] = [];
  for (const record of records) {
    lines.push(...(await encodeInTurns(record)));
    if (turns.isOver) await turns.next();
  }
  return Buffer.concat(lines);
}

/** Encodes a record in pieces: a list in short turns, because one request may change thousands of objects. */
async function encodeInTurns(record: unknown): Promise<Buffer[]> {
  if (!Array.isArray(record)) return [Buffer.from(encode(record))];
  const turns = new Turns();
  const pieces = [Buffer.from('[')];
  let sum = crc32('[');
  const add = (text: string): void => {
    const bytes = Buffer.from(text);
    sum = crc32(bytes, sum);
    pieces.push(bytes);
  };
  for (const [index, item] of record.entries()) {
    add(`${index === 0 ? '' : ','}${JSON.stringify(item)}`);
    if (turns.isOver) await turns.next();
  }
  add(']');
  return [Buffer.from(`${hexOf(sum)} `), ...pieces, Buffer.from('\n')];
}

interface ReadRecords<R> {
  readonly records: R[];
  /** Length of the readable records, bytes. */
  readonly goodBytes: number;
  /** Whether only the last line is unreadable; false: the journal is damaged in the middle. */
  readonly isTorn: boolean;
}

/** Reads up to the first unreadable line. */
export async function readRecords<R>(content: Buffer): Promise<ReadRecords<R>> {
  const records: R[] = [];
  const turns = new Turns();
  let start = 0;
  while (start < content.length) {
    const end = content.indexOf(newline, start);
    const record = end < 0 ? undefined : await decodeInTurns<R>(content.subarray(start, end));
    if (record === undefined) return { records, goodBytes: start, isTorn: end < 0 || end === content.length - 1 };
    records.push(record);
    start = end + 1;
    if (turns.isOver) await turns.next();
  }
  return { records, goodBytes: start, isTorn: true };
}

/** Reads every readable record; `lost`: number of lines without one. */
export async function salvageRecords<R>(content: Buffer): Promise<{ records: R[]; lost: number }> {
  const records: R[] = [];
  const turns = new Turns();
  let lost = 0;
  for (let start = 0; start < content.length; ) {
    const found = content.indexOf(newline, start);
    const end = found < 0 ? content.length : found;
    const inLine = recordsIn<R>(content.toString('utf8', start, end));
    if (inLine.length === 0) lost += 1;
    records.push(...inLine);
    start = end + 1;
    if (turns.isOver) await turns.next();
  }
  return { records, lost };
}

/** Reads the records of a damaged line: a changed line break joins two lines that are intact. */
function recordsIn<R>(line: string): R[] {
  const whole = decode<R>(line);
  if (whole !== undefined) return [whole];
  for (const { index } of line.matchAll(/[0-9a-f]{8} /g)) {
    if (index === 0) continue;
    const [before, after] = [decode<R>(line.slice(0, index - 1)), decode<R>(line.slice(index))];
    if (before !== undefined || after !== undefined) return [before, after].filter((record) => record !== undefined);
  }
  return [];
}

/** Decodes a line; a list that `encodeInTurns` wrote is decoded in short turns. */
async function decodeInTurns<R>(line: Buffer): Promise<R | undefined> {
  const list = line.subarray(headLength);
  if (line.length < longList || list[0] !== opensList) return decode(line.toString());
  if (line.toString('latin1', 0, headLength) !== `${hexOf(crc32(list))} `) return undefined;
  try {
    return (await mapInTurns(itemsOf(list), (item) => JSON.parse(item.toString()))) as R;
  } catch {
    return undefined;
  }
}

/** Yields the texts of a JSON list's items. */
function* itemsOf(list: Buffer): Generator<Buffer> {
  let depth = 0;
  let start = 1;
  for (let at = 0; at < list.length; at++) {
    const byte = list[at];
    if (byte === quote) at = endOfString(list, at);
    else if (opening.has(byte)) depth += 1;
    else if (closing.has(byte)) depth -= 1;
    if (byte === comma ? depth !== 1 : depth !== 0) continue;
    if (at > start) yield list.subarray(start, at);
    start = at + 1;
  }
}

function endOfString(json: Buffer, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}

function decode<R>(line: string): R | undefined {
  const text = line.slice(headLength);
  if (line[8] !== ' ' || line.slice(0, 8) !== hexOf(crc32(text))) return undefined;
  try {
    return JSON.parse(text) as R;
  } catch {
    return undefined;
  }
}
