/** The connection to an emulator that floods it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';
import { SourceConnection } from './source.ts';

test('an emulator that negotiates without reading the answers gets no more than the kernel and 64 KiB hold', async (t) => {
  // WILL and WONT of an option change its state each time, so each is answered: 3 MB of answers.
  const options = Buffer.from(Array.from({ length: 500_000 }, () => [0xff, 0xfb, 0x01, 0xff, 0xfc, 0x01]).flat());
  const folder = await mkdtemp(join(tmpdir(), 'pb-source-'));
  const path = join(folder, 'console');
  const server = createServer((socket) => socket.pause()).listen(path);
  t.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  await once(server, 'listening');
  let output = '';
  const listener = {
    output: (bytes: Uint8Array) => {
      output += Buffer.from(bytes).toString('latin1');
    },
    connected: () => undefined,
    relieved: () => undefined,
  };
  const source = new SourceConnection({ type: 'unix', path, telnet: true }, 0, listener);
  t.after(() => source.close());
  const [emulator] = await accepted;
  t.after(() => emulator.destroy());
  emulator.write(options);
  emulator.write('end');
  await waitFor(() => output === 'end', { what: 'the output behind the flood' });
  let answered = 0;
  emulator.on('data', (bytes) => {
    answered += bytes.length;
  });
  emulator.resume();
  await waitFor(() => answered > 0 && emulator.readableLength === 0, { what: 'answers' });
  source.close();
  await once(emulator, 'close');
  assert.ok(answered < options.length / 2, `${answered} bytes of answers`);
});
