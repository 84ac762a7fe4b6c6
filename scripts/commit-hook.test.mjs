import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const hook = path.join(import.meta.dirname, 'hooks/commit-msg');

test('the hook accepts an area with an imperative summary, and refuses other subjects', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pb-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const message = path.join(folder, 'message');
  const isAccepted = (subject) => {
    writeFileSync(message, `${subject}\n\nThe cause.\n`);
    return spawnSync('sh', [hook, message]).status === 0;
  };
  for (const subject of ['links: add a filter', 'controller, compute: keep it', "Merge branch 'x'", 'fixup! links: add a filter'])
    assert.ok(isAccepted(subject), subject);
  for (const subject of ['add a filter', 'links: added a filter', 'links: adds a filter', 'links: add a filter.', ''])
    assert.ok(!isAccepted(subject), subject);
});
