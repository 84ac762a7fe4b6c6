/** Sealed streams: the taking end passes on nothing from the first byte on that an attacker on the way changed. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable, type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, test } from 'node:test';
import { BrokenSeal, MoveSeals } from './move-seals.ts';

const secret = '5e'.repeat(32);
const chunks = ['one', 'two', 'three'].map((text) => Buffer.from(text));

async function passed(through: readonly Transform[], bytes: Iterable<Buffer>) {
  const received: Buffer[] = [];
  const into = new Writable({
    write(part: Buffer, _encoding, done) {
      received.push(part);
      done();
    },
  });
  const source = Readable.from(bytes, { objectMode: false });
  const failure = await pipeline([source, ...through, into]).then(
    () => undefined,
    (error: Error) => error,
  );
  return { received: Buffer.concat(received), failure };
}

const sealed = async (parts: readonly Buffer[] = chunks, { stream = 'memory', key = secret, side = 'departure' as const } = {}) =>
  (await passed(new MoveSeals(side, key).sending(stream), parts)).received;
const opened = (bytes: Iterable<Buffer>, stream = 'memory') => passed(new MoveSeals('arrival', secret).taking(stream), bytes);

/** The frames of a sealed stream of chunks. */
function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 36 + bytes.readUInt32BE(at);
    frames.push(bytes.subarray(at, end));
    at = end;
  }
  return frames;
}

describe('a sealed stream', () => {
  test('arrives as it was sent, however it is cut, also in chunks above the size of a frame', async () => {
    const large = randomBytes(3 * 2 ** 20 + 7);
    const bytes = await sealed([large]);
    const cuts = Array.from({ length: Math.ceil(bytes.length / 65_521) }, (_, at) =>
      bytes.subarray(at * 65_521, (at + 1) * 65_521),
    );
    const { received, failure } = await opened(cuts);
    assert.equal(failure, undefined);
    assert.ok(received.equals(large));
    const small = await sealed();
    const single = await opened(Array.from(small, (byte) => Buffer.of(byte)));
    assert.deepEqual([single.failure, String(single.received)], [undefined, 'onetwothree']);
  });

  test('each bit that is changed ends it, and none of the frame arrives', async () => {
    const bytes = await sealed();
    const ends = [39, 78, 119, 155];
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      const { received, failure } = await opened([changed]);
      assert.ok(failure instanceof BrokenSeal, `byte ${at}`);
      const whole = ends.filter((end) => end <= at).length;
      assert.equal(String(received), ['one', 'two', 'three'].slice(0, whole).join(''), `byte ${at}`);
    }
  });

  test('frames that are cut off, left out, moved, repeated or added end it', async () => {
    const [one, two, three, end] = framesOf(await sealed()) as [Buffer, Buffer, Buffer, Buffer];
    const other = framesOf(await sealed([Buffer.from('two')], { key: 'aa'.repeat(32) }))[0] as Buffer;
    const disk = framesOf(await sealed(chunks, { stream: 'drive0' }))[1] as Buffer;
    for (const [name, frames, rest] of [
      ['without its end', [one, two, three], 'onetwothree'],
      ['cut off in a frame', [one, two.subarray(0, 37)], 'one'],
      ['left out', [one, three, end], 'one'],
      ['moved', [two, one, three, end], ''],
      ['repeated', [one, one, two, three, end], 'one'],
      ['replayed as a whole', [one, two, three, end, one, two, three, end], 'onetwothree'],
      ['of another move', [one, other, three, end], 'one'],
      ['of another stream', [one, disk, three, end], 'one'],
      ['behind its end', [one, two, three, end, Buffer.of(0)], 'onetwothree'],
      ['empty', [], ''],
      ['longer than a frame may be', [Buffer.from('ffffffff', 'hex'), Buffer.alloc(64)], ''],
    ] as const) {
      const { received, failure } = await opened([Buffer.concat(frames)]);
      assert.ok(failure instanceof BrokenSeal, name);
      assert.ok(rest.startsWith(String(received)), `${name}: ${received}`);
    }
  });

  test('what one side sends cannot be given back to it', async () => {
    const own = new MoveSeals('arrival', secret);
    const { received } = await passed(own.sending('drive0'), chunks);
    const { failure } = await passed(own.taking('drive0'), [received]);
    assert.ok(failure instanceof BrokenSeal);
  });

  test('is used once; without a secret, too, and then passes as it is', () => {
    for (const seals of [new MoveSeals('arrival', secret), new MoveSeals('arrival')]) {
      seals.taking('memory');
      seals.taking('drive0');
      seals.sending('drive0');
      assert.throws(() => seals.taking('memory'), BrokenSeal);
      assert.throws(() => seals.sending('drive0'), BrokenSeal);
    }
    assert.deepEqual(new MoveSeals('arrival').taking('memory'), []);
  });
});
