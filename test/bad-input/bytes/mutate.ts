/** Changes bytes at random: single bits and numbers at the edges of their range, pieces of other inputs, lengths. */
import type { Chance } from '../../durability/random.ts';

const edges = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff];
const mostBytes = 512 * 1024;

/** A changed copy. `others`: inputs that pieces are taken from. */
export function mutate(input: Uint8Array, others: readonly Uint8Array[], chance: Chance): Buffer {
  let bytes: Buffer = Buffer.from(input);
  for (let changes = chance.between(1, 4); changes > 0; changes--)
    bytes = (chance.pick(ways) ?? flip)(bytes, chance, chance.pick(others) ?? input);
  return bytes.subarray(0, mostBytes);
}

type Way = (bytes: Buffer, chance: Chance, other: Uint8Array) => Buffer;

/** A place; headers are most often at the beginning. */
function placeIn(bytes: Uint8Array, chance: Chance): number {
  const last = Math.max(0, bytes.length - 1);
  return chance.next() < 0.6 ? Math.min(last, chance.between(0, 128)) : chance.between(0, last);
}

const flip: Way = (bytes, chance) => {
  const at = placeIn(bytes, chance);
  if (at < bytes.length) bytes[at] = (bytes[at] as number) ^ (1 << chance.between(0, 7));
  return bytes;
};
const replace: Way = (bytes, chance) => {
  const at = placeIn(bytes, chance);
  if (at < bytes.length) bytes[at] = chance.between(0, 255);
  return bytes;
};
const edge: Way = (bytes, chance) => {
  const value = chance.pick(edges) ?? 0;
  const number = Buffer.alloc(8);
  if (chance.next() < 0.5) number.writeUInt32BE(value, 4);
  else number.writeUInt32LE(value, 0);
  const width = chance.pick([1, 2, 4, 8]) ?? 4;
  number.copy(bytes, placeIn(bytes, chance) & ~(width - 1), 0, width);
  return bytes;
};
const cut: Way = (bytes, chance) => bytes.subarray(0, chance.between(0, bytes.length));
const remove: Way = (bytes, chance) => {
  const at = placeIn(bytes, chance);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + chance.between(1, 16))]);
};
const repeat: Way = (bytes, chance) => {
  const at = placeIn(bytes, chance);
  const piece = bytes.subarray(at, at + chance.between(1, 64));
  const pieces = Array.from({ length: chance.between(1, 50) }, () => piece);
  return Buffer.concat([bytes.subarray(0, at), ...pieces, bytes.subarray(at)]);
};
const splice: Way = (bytes, chance, other) => {
  const [at, from] = [placeIn(bytes, chance), placeIn(other, chance)];
  return Buffer.concat([bytes.subarray(0, at), other.subarray(from, from + chance.between(1, 512)), bytes.subarray(at)]);
};
const ways: readonly Way[] = [flip, flip, replace, replace, edge, edge, edge, cut, remove, repeat, splice];
