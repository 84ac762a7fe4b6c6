import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { answerText } from './remote-answers.ts';

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
