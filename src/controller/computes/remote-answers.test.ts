import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { answerText, faultOfAnswer } from './remote-answers.ts';

const source = { name: 'remote', request: 'GET /x' };

test('an answer is read as a whole, and an endless one only up to its limit', async () => {
  assert.equal(await answerText(Readable.from([Buffer.from('{"a":'), Buffer.from('"ä"}')]), source), '{"a":"ä"}');
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(2 ** 20);
    })(),
  );
  await assert.rejects(answerText(endless, source, 2 ** 22), (error) => isFault(error, 'compute_reply_invalid'));
  assert.ok(endless.destroyed);
});

test('a compute without space is answered as such, with its name', () => {
  const text = '{"message": "no space left", "status": 507}';
  for (const [code, expected] of [
    ['disk_floor', 'disk_floor'],
    ['storage_failed', 'storage_failed'],
    [undefined, 'storage_failed'],
  ] as const) {
    const error = faultOfAnswer({ ...source, status: 507, code, text });
    assert.ok(isFault(error, expected), error.code);
    assert.equal(error.message, "Compute 'remote': no space left");
  }
});
