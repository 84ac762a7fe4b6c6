import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { messagesOf } from './thread-messages.ts';

const start = (code: string) => new Worker(`const { parentPort } = require('node:worker_threads'); ${code}`, { eval: true });
const sendTwo = 'parentPort.postMessage("first"); parentPort.postMessage("last");';

/** Holds the event loop: nothing of a thread is looked at before it has ended. */
const holdLoop = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);

async function seen(worker: Worker): Promise<string[]> {
  const messages: string[] = [];
  for await (const message of messagesOf<string>(worker)) messages.push(message);
  return messages;
}

test('what a thread sends is seen, also what comes together at its end', { timeout: 60_000 }, async () => {
  for (let count = 0; count < 20; count++) {
    const all = seen(start(sendTwo));
    if (count % 2 === 0) holdLoop();
    assert.deepEqual(await all, ['first', 'last']);
  }
});

test('what a thread throws comes after what it sent, and harms no caller that stopped listening', { timeout: 60_000 }, async () => {
  const failing = `${sendTwo} throw new Error('out of it');`;
  await assert.rejects(seen(start(failing)), /out of it/);
  const worker = start(`parentPort.postMessage('first'); setTimeout(() => { throw new Error('out of it'); }, 50);`);
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  for await (const message of messagesOf<string>(worker)) {
    assert.equal(message, 'first');
    break;
  }
  await exited;
});

test('a thread that ends without a word ends the loop', { timeout: 60_000 }, async () => {
  assert.deepEqual(await seen(start('')), []);
});
