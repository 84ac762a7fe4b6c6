import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../test/support/wait-for.ts';
import { connectSocket } from './unix-socket.ts';

const skip = process.platform !== 'linux' && 'only Linux opens sockets by descriptor';

test('a socket is connected to, a link to it is not, and no descriptor is left', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-socket-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'socket');
  const server = createServer((client) => client.end('reached'));
  t.after(() => server.close());
  server.listen(path);
  await once(server, 'listening');
  await symlink(path, join(folder, 'link'));
  await writeFile(join(folder, 'file'), '');
  const open = async () => (await readdir('/proc/self/fd')).length;
  const before = await open();
  const socket = connectSocket(path);
  const [bytes] = await once(socket, 'data');
  assert.equal(String(bytes), 'reached');
  await once(socket, 'close');
  for (const [name, code] of Object.entries({ link: 'ENOTSOCK', file: 'ENOTSOCK', absent: 'ENOENT' })) {
    const refused = connectSocket(join(folder, name));
    const closed = once(refused, 'close').catch(() => undefined);
    const [error] = await new Promise<[NodeJS.ErrnoException]>((resolve) =>
      refused.once('error', (...all) => resolve(all as never)),
    );
    assert.equal(error.code, code, name);
    await closed;
  }
  await waitFor(async () => (await open()) === before, { what: `the ${before} descriptors of before` });
});
