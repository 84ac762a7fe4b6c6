import { spawn } from 'node:child_process';
import { test } from 'node:test';

test('starts a server and forgets it', () => {
  spawn('sleep', ['602.25'], { detached: true, stdio: 'ignore' }).unref();
});
