import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientKey } from '../api/client-key.ts';
import { LoginDelays } from './login-delays.ts';

let attempts = 0;
/** Credentials that were never given before. */
const freshAttempt = () => Buffer.from(`guess ${attempts++}`);

/** Resolves to whether the failure is answered at once. */
async function isImmediate(answer: Promise<void>): Promise<boolean> {
  let isAnswered = false;
  void answer.then(() => {
    isAnswered = true;
  });
  await new Promise(setImmediate);
  return isAnswered;
}

/** Guesses of one client until it is not looked at any more; returns how many were looked at, and how many of those answered at once. */
async function guess(delays: LoginDelays, client: string, most: number) {
  const result = { looked: 0, immediate: 0 };
  for (let at = 0; at < most && delays.accepts(client, 'teacher'); at++) {
    result.looked += 1;
    if (await isImmediate(delays.failed(client, 'teacher', freshAttempt()))) result.immediate += 1;
  }
  return result;
}

test('a client has five free failures, then eight that wait', async () => {
  assert.deepEqual(await guess(new LoginDelays(), '10.0.0.1', 100), { looked: 13, immediate: 5 });
});

test('a client that never failed is looked at, whatever waits; its further guesses are not', async () => {
  const delays = new LoginDelays();
  for (let at = 0; at < 1_000; at++) await guess(delays, `10.1.${at >> 8}.${at & 255}`, 13);
  assert.equal(delays.accepts('10.1.0.1', 'teacher'), false);
  for (const client of ['10.2.0.1', clientKey('2001:db8::1')]) {
    assert.equal(delays.accepts(client, 'teacher'), true);
    assert.deepEqual(await guess(delays, client, 100), { looked: 1, immediate: 1 });
  }
});

test('many addresses have together little more than the free failures of the account, beside the first of each', async () => {
  const delays = new LoginDelays();
  let looked = 0;
  for (let at = 0; at < 500; at++) looked += (await guess(delays, clientKey(`2001:db8:0:${at.toString(16)}::1`), 13)).looked;
  assert.ok(looked <= 500 + 50 + 64 + 13, `${looked} guesses were looked at`);
});

test('all addresses of an IPv6 network of 64 bits are one client', async () => {
  const delays = new LoginDelays();
  let looked = 0;
  for (let at = 1; at <= 50; at++) looked += (await guess(delays, clientKey(`2001:db8::${at.toString(16)}`), 13)).looked;
  assert.equal(looked, 13);
});

test('the same old password on many machines is one guess', async () => {
  const delays = new LoginDelays();
  const old = Buffer.from('old');
  for (let at = 0; at < 200; at++) assert.equal(await isImmediate(delays.failed(`10.3.0.${at}`, 'teacher', old)), true);
  assert.deepEqual(await guess(delays, '10.3.1.1', 5), { looked: 5, immediate: 5 });
});
