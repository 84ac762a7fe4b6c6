import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeAccess } from './describe-access.ts';
import { defaultSettings } from './schema/settings.ts';

const said = (changes: object) => describeAccess({ ...defaultSettings().Server, ...changes });

test('a server says at its start who may use it and its consoles', () => {
  assert.equal(said({}), 'API and consoles are open to every user of this machine: no credentials are asked for.');
  assert.equal(
    said({ host: '0.0.0.0' }),
    'API and consoles are open to everybody who reaches 0.0.0.0: no credentials are asked for.',
  );
  assert.match(
    said({ allow_remote_console: true }),
    /Consoles are open to everybody who reaches 0\.0\.0\.0; the API is open to every user/,
  );
  assert.match(
    said({ host: '0.0.0.0', auth: true, console_users: 'ann, bob' }),
    /asks for credentials\. Consoles listen on 127\.0\.0\.1; they are open to root, the user of this server, ann, bob\.$/,
  );
  assert.match(said({ host: '::', auth: true }), /listen on ::1;/);
  assert.match(said({ auth: true, console_ports: false, console_users: 'ann' }), /by WebSocket only, with these credentials\.$/);
  assert.match(
    said({ host: '0.0.0.0', auth: true, console_without_credentials: true }),
    /Consoles are open to everybody who reaches 0\.0\.0\.0/,
  );
});
