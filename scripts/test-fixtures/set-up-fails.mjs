/** A hook that starts a server and fails before the hook that stops it knows the server. */
import { after, before, test } from 'node:test';
import { startServer } from '../../test/support/server.ts';

let server;
before(async () => {
  await startServer();
  throw new Error('half-way');
});
after(() => server?.stop());
test('cannot begin', () => undefined);
