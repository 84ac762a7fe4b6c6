/** Dialogues with consoles that are slower than usual. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PromptDialogue } from './prompt-dialogue.ts';

function dialogueWith(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const typed: string[] = [];
  let show: (data: Uint8Array) => void = () => undefined;
  const socket = {
    send: (data: string | Uint8Array) => void typed.push(String(data)),
    onData: (listener: typeof show) => {
      show = listener;
    },
    closed: new Promise<string>(() => undefined),
    close: () => undefined,
  };
  const dialogue = new PromptDialogue(socket, new AbortController().signal);
  /** Shows text, and lets time pass. */
  const shows = async (text: string, passesMs: number) => {
    if (text !== '') show(Buffer.from(text));
    t.mock.timers.tick(passesMs);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  return { dialogue, typed, shows };
}

test('the answer to the first Enter, which comes late, is not taken for the answer to the command', async (t) => {
  const { dialogue, typed, shows } = dialogueWith(t);
  const answer = dialogue.ask('echo out; exit 37');
  // The end of what was shown before.
  await shows('~ # ', 500);
  assert.deepEqual(typed, ['\r', 'echo out; exit 37\r']);
  await shows('\r\n~ # ', 500);
  await shows('echo out; exit 37\r\n', 2900);
  await shows('out\r\n~ # ', 399);
  assert.equal(await Promise.race([answer, 'not yet']), 'not yet');
  await shows('', 1);
  assert.equal(await answer, 'out');
});

test('a long line that the terminal wraps is no part of the answer', async (t) => {
  const { dialogue, shows } = dialogueWith(t);
  const answer = dialogue.ask('echo one two three');
  await shows('\r\n~ # ', 400);
  await shows('echo one t\r\nwo three\r\none two three\r\n~ # ', 400);
  assert.equal(await answer, 'one two three');
});

test('a console that does not show what is typed answers after a longer silence', async (t) => {
  const { dialogue, shows } = dialogueWith(t);
  const answer = dialogue.ask('show version');
  await shows('\r\n> ', 400);
  await shows('\r\n7.2\r\n> ', 400);
  assert.equal(await Promise.race([answer, 'not yet']), 'not yet');
  await shows('', 2600);
  assert.equal(await answer, '7.2');
});
