/** Its process leaves its server alone on SIGTERM, and the server leads a session of its own. */
import { spawn } from 'node:child_process';
import { test } from 'node:test';

process.on('SIGTERM', () => undefined);
test('starts a server', () => {
  spawn('sleep', ['601.25'], { detached: true, stdio: 'ignore' });
});
test('stands still', async () => {
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
