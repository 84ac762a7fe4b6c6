/** Runs Node's test runner on this Node, with our summary. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const reporter = path.join(path.dirname(fileURLToPath(import.meta.url)), 'test-reporter.mjs');
/** No test may run longer, ms: the longest kill a server a hundred times under load. */
const timeoutMs = 300_000;

/** Resolves to the exit code. */
export function runTests(patterns, options = []) {
  const args = [
    '--test',
    '--test-concurrency=2',
    `--test-timeout=${timeoutMs}`,
    `--test-reporter=${reporter}`,
    ...options,
    ...patterns,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
