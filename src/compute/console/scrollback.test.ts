import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scrollback } from './scrollback.ts';

function readAll(scrollback: Scrollback, from: number): string {
  let text = '';
  for (let at = from; at < scrollback.end; ) {
    const bytes = scrollback.read(at);
    text += Buffer.from(bytes).toString('latin1');
    at += bytes.length;
  }
  return text;
}

test('all is there until the limit, across blocks', () => {
  const scrollback = new Scrollback(64 * 1024);
  let expected = '';
  for (let line = 0; line < 2000; line++) {
    const text = `line ${line}\r\n`;
    expected += text;
    scrollback.append(Buffer.from(text));
  }
  assert.equal(scrollback.start, 0);
  assert.equal(scrollback.entry(), 0);
  assert.equal(readAll(scrollback, 0), expected);
  assert.equal(readAll(scrollback, 5000), expected.slice(5000));
  assert.equal(scrollback.read(scrollback.end).length, 0);
});

test('the oldest leaves, never more than a block too much stays', () => {
  const scrollback = new Scrollback(10_000);
  const text = Array.from({ length: 9000 }, (_, line) => `line ${line}\n`).join('');
  scrollback.append(Buffer.from(text));
  const kept = scrollback.end - scrollback.start;
  assert.ok(kept >= 10_000 && kept < 10_000 + 4096, `${kept}`);
  assert.equal(readAll(scrollback, scrollback.start), text.slice(scrollback.start));
  assert.match(readAll(scrollback, scrollback.entry()), /^line \d+\n/);
});

test('bytes that were read stay as they are', () => {
  const scrollback = new Scrollback(4096);
  scrollback.append(Buffer.from('first'));
  const bytes = scrollback.read(0);
  for (let round = 0; round < 100; round++) scrollback.append(Buffer.alloc(1000, 65));
  assert.equal(Buffer.from(bytes).toString(), 'first');
});
