import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../schema/finding.ts';
import { keepFindings } from './kept-findings.ts';

test('findings are looked for once a minute, by all who ask together, and again after a failure', async () => {
  let [looks, time, fails] = [0, 0, false];
  const look = async (): Promise<Finding[]> => {
    looks += 1;
    if (fails) throw new Error('no');
    return [{ state: 'good', what: 'look', found: String(looks) }];
  };
  const find = keepFindings(look, () => time);
  const [one, other] = await Promise.all([find(), find()]);
  assert.equal(one, other);
  time = 59_000;
  assert.equal(await find(), one);
  time = 61_000;
  assert.equal((await find())[0]?.found, '2');
  time = 200_000;
  fails = true;
  await assert.rejects(find());
  fails = false;
  assert.equal((await find())[0]?.found, '4');
});
