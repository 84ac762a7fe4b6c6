/** Streams to a reader that, as QEMU does, closes when it has read what it needs. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sendFile } from './stream-socket.ts';

test('a file is sent to a reader that closes before its end; without a reader that fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-'));
  const [file, socket] = [join(folder, 'file'), join(folder, 'socket')];
  await writeFile(file, Buffer.alloc(4 << 20, 1));
  await assert.rejects(sendFile(file, socket), { code: 'ENOENT' });
  const server = createServer((reader) => {
    reader.on('error', () => undefined);
    reader.once('data', () => reader.destroy());
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  await sendFile(file, socket);
  await assert.rejects(sendFile(join(folder, 'missing'), socket), { code: 'ENOENT' });
  server.close();
  await rm(folder, { recursive: true });
});
