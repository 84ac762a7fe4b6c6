/** The process keeps its server running on SIGTERM, and the server leads its own session. */
import { spawn } from 'node:child_process';
import { test } from 'node:test';

process.on('SIGTERM', () => undefined);
test('starts a server', () => {
  spawn('sleep', ['601.25'], { detached: true, stdio: 'ignore' });
});
test('stands still', async () => {
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
