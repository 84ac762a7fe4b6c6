import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventStream } from '../lib/event-stream.ts';
import { NotificationFeeds } from './notification-feeds.ts';
import type { Socket } from './route.ts';

interface Notice {
  action: string;
  event: object;
  seq: number;
}

const MiB = 1024 ** 2;
const feeds = new NotificationFeeds<Notice>({ silenceMs: 60_000, ping: () => ({}), textOf: (notice) => JSON.stringify(notice) });

/** A listener over a WebSocket; until it reads, nothing that it is sent leaves. */
function join(notices: EventStream<Notice>, client: string, { reads = false } = {}) {
  const state = { bytes: 0, last: {} as Partial<Notice>, code: undefined as number | undefined };
  const leave: (() => void)[] = [];
  const socket: Socket = {
    send: (data, sent) => {
      state.bytes += data.length;
      state.last = JSON.parse(String(data)) as Notice;
      if (reads && sent) setImmediate(sent);
    },
    bufferedAmount: 0,
    onMessage: () => undefined,
    onClose: (listener) => leave.push(listener),
    close: (code) => {
      state.code ??= code;
      for (const each of leave.splice(0)) each();
    },
  };
  feeds.serve({ listen: (listener) => notices.subscribe(listener) }, socket, client);
  return state;
}

const notice = (seq: number): Notice => ({ action: 'drawing.updated', event: { svg: 'x'.repeat(MiB / 4) }, seq });

describe('listeners that do not read', () => {
  test('of one client share 16 MiB; those of others, and the one of that client that reads, continue', async () => {
    const notices = new EventStream<Notice>();
    const deaf = Array.from({ length: 100 }, () => join(notices, 'greedy'));
    const [own, other] = [join(notices, 'greedy', { reads: true }), join(notices, 'other', { reads: true })];
    for (let seq = 1; seq <= 80; seq++) {
      notices.emit(notice(seq));
      await new Promise(setImmediate);
    }
    const open = deaf.filter(({ code }) => code === undefined);
    assert.ok(open.length < 64, `${open.length} of 100 are still open`);
    for (const { code, last } of deaf.filter((each) => each.code !== undefined)) {
      assert.equal(code, 1013);
      assert.deepEqual(last, { action: 'stream.ended', event: { reason: 'too_slow', seq: 1 } });
    }
    for (const { code, last } of [own, other]) {
      assert.equal(code, undefined);
      assert.equal(last.seq, 80);
    }
    // Connections were given less than this; the rest that waits for them is limited.
    assert.ok(deaf.every(({ bytes }) => bytes < MiB));
  });

  test('over HTTP the last line says why it ends, and the number to resume with', async () => {
    const notices = new EventStream<Notice>();
    const { source } = feeds.stream(
      { listen: (listener) => notices.subscribe(listener) },
      { signal: new AbortController().signal, client: 'lines' },
    );
    for (let seq = 1; seq <= 100; seq++) notices.emit(notice(seq));
    let text = '';
    for await (const chunk of source as AsyncIterable<Buffer>) text += chunk;
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Notice);
    assert.deepEqual(lines.at(-1), { action: 'stream.ended', event: { reason: 'too_slow', seq: lines.at(-2)?.seq } });
    assert.ok(lines.length < 20, `${lines.length} notices were kept`);
    assert.equal(notices.listeners, 0);
  });
});
