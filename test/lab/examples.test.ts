/** The files of `examples/` that need no package: as their users run them. Those for clients run with the tests of the clients. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { missingPrograms } from '../support/missing-programs.ts';
import { patientTest } from '../support/patient-fidelity.ts';
import { serverProgram } from '../support/server.ts';
import { withServer } from '../support/with-server.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'pb-examples-'));
after(() => rm(folder, { recursive: true }));
const { server } = await withServer();
const env = { ...process.env, PATCHBAY_URL: server.url };
const limits = { cwd: root, env, timeout: 120_000 };

test('first-lab.sh', { skip: await missingPrograms(['curl', 'curl'], ['jq', 'jq']) }, async () => {
  const { stdout } = await run('sh', ['examples/first-lab.sh'], limits);
  assert.match(
    stdout,
    /^\{"latency":\[25\],"packet_loss":\[10\]\}\n\d+ of 20 pings were answered, the fastest after 5\d\.?\d* ms\n/,
  );
  assert.equal(stdout.match(/^telnet 127\.0\.0\.1 \d+ /gm)?.length, 2);
});

test('pair.yaml', async () => {
  const file = join(folder, 'pair.yaml');
  await writeFile(file, (await readFile(join(root, 'examples/pair.yaml'), 'utf8')) + patientTest);
  const { stdout, stderr } = await run(process.execPath, ['scripts/patchbay.mjs', 'test', file], limits);
  assert.match(stdout + stderr, /Verdict: passed\. 1 of 1 checks hold/);
});

test('the pages of labs have the pictures that `patchbay lab graph` draws', async () => {
  const files = (await readdir(join(root, 'labs'))).filter((name) => name.endsWith('.yaml'));
  assert.ok(files.length >= 5);
  const patchbay = async (...args: string[]) => (await run(process.execPath, [serverProgram, 'lab', ...args], limits)).stdout;
  for (const file of files) {
    const name = file.replace('.yaml', '');
    await patchbay('apply', `labs/${file}`);
    const page = await readFile(join(root, 'labs', `${name}.md`), 'utf8');
    assert.ok(
      page.includes(`\`\`\`mermaid\n${await patchbay('graph', '-p', name)}\`\`\`\n`),
      `labs/${name}.md has another picture`,
    );
  }
});
