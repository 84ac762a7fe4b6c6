import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { frameLength } from '../frames.ts';
import { FramedSocket } from './framed-socket.ts';
import type { PortOwner } from './port.ts';
import { RoundTrips } from './round-trips.ts';

test('an answer belongs to its own probe, also when others were sent since', async () => {
  const [trips, other] = [new RoundTrips(), new RoundTrips()];
  const answerTo = (probe: Buffer) => frameLength(other.received(frameLength(probe, 0)) ?? Buffer.alloc(4), 0);
  const probes = Array.from({ length: 7 }, () => trips.probe());
  await delay(20);
  probes.push(trips.probe());
  const answers = probes.map(answerTo);
  for (const answer of answers.slice(0, 7)) assert.equal(trips.received(answer), undefined);
  assert.equal(trips.shortestMs, undefined);
  assert.ok(trips.nextMs);
  await delay(20);
  trips.received(Number(answers[7]));
  // A timer may be a millisecond early.
  assert.ok(Number(trips.shortestMs) >= 18, `${trips.shortestMs} ms`);
  // A repeated answer counts for nothing.
  const before = trips.shortestMs;
  trips.received(Number(answers[7]));
  assert.equal(trips.shortestMs, before);
  trips.forget();
  assert.equal(trips.shortestMs, undefined);
});

test('a read that is full of frames of a byte with marks between them is handed on', () => {
  let frames = 0;
  let marks = 0;
  const owner: PortOwner = {
    received(_buffer, _start, _end, count) {
      frames += count;
      return true;
    },
    drained() {},
  };
  const framed = new FramedSocket(owner, () => {
    marks += 1;
  });
  const socket = new Socket();
  framed.use(socket);
  const part = Buffer.concat([Buffer.from([0, 0, 0, 1]), Buffer.from('x'), new RoundTrips().probe()]);
  const count = Math.floor(65_536 / part.length);
  Buffer.concat(Array.from({ length: count }, () => part)).copy(framed.area);
  framed.took(socket, count * part.length);
  assert.deepEqual([frames, marks], [count, count]);
});
