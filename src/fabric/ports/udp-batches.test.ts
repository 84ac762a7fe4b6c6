/** Datagrams that the kernel does not take at once, which it does not do when a test wants it. */
import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, it } from 'node:test';
import { headerBytes, putFrameLength } from '../frames.ts';
import type { Native } from './native.ts';
import { BatchedUdp, type UdpOwner } from './udp-batches.ts';

const { EAGAIN, EMSGSIZE, ENOBUFS, EPERM } = constants.errno;
const place = { host: '127.0.0.1', port: 9 };

/** Sends as many as `answers` say each time, then all. `sent`: their first bytes. */
function kernelWith(answers: number[]) {
  const waiting: number[] = [];
  const sent: number[] = [];
  const outgoing = {
    get count() {
      return waiting.length;
    },
    clear: () => void waiting.splice(0),
    addressTo: () => undefined,
    add: (buffer: Buffer, start: number) => waiting.push(buffer[start] as number) > 0,
  };
  const sendDatagrams = (_descriptor: number, from: number) => {
    const answer = answers.shift() ?? waiting.length - from;
    if (answer > 0) sent.push(...waiting.slice(from, from + answer));
    return answer;
  };
  const watch = () => ({ pause: () => undefined, resume: () => undefined, close: () => undefined });
  const native = { outgoing, sendDatagrams, watch, openUdp: () => 3, udpAddress: () => ({}), close: () => undefined };
  return { native: native as unknown as Native, sent };
}

function framesOf(...lengths: number[]): Buffer {
  return Buffer.concat(
    lengths.map((length, index) => {
      const frame = Buffer.alloc(headerBytes + length, index + 1);
      putFrameLength(frame, 0, length);
      return frame;
    }),
  );
}

describe('sockets of UDP that send in batches', () => {
  it('keep their order over a full socket, and count what is not sent', async () => {
    const { native, sent } = kernelWith([2, -EAGAIN, -ENOBUFS, 1, -EPERM]);
    const failures: number[] = [];
    const emptied = Promise.withResolvers<void>();
    const owner: UdpOwner = {
      fits: (_buffer, from, to) => to - from < 1000,
      failed: (error) => void failures.push(-error),
      sent: emptied.resolve,
      place: () => assert.fail('nothing is received'),
      received: () => undefined,
    };
    const socket = new BatchedUdp(native, owner, { local: place, peer: place, isStrict: false, bufferBytes: 1 });
    const frames = framesOf(60, 61, 62, 63, 64, 1000, 1001, 65, 66);
    assert.equal(socket.send(frames, 0, frames.length), false);
    assert.deepEqual(sent, [1, 2]);
    await emptied.promise;
    assert.deepEqual(sent, [1, 2, 4, 8, 9]);
    assert.deepEqual(failures, [ENOBUFS, EPERM, EMSGSIZE, EMSGSIZE]);
    assert.equal(socket.send(frames, 0, headerBytes + 60), true);
    socket.close();
  });
});
