/**
 * Bytes that clients, guests and files send: those of `corpus/bytes/`, which failed once, and some that are changed by a seed.
 * `npm run fuzz -- 20 bytes` changes others.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeChance } from '../durability/random.ts';
import { hunt, problemOf } from './bytes/hunt.ts';
import { targets } from './bytes/targets.ts';

const inputs = 200;
const corpus = join(import.meta.dirname, 'corpus', 'bytes');

for (const name of (await readdir(corpus).catch(() => [])).sort()) {
  const entry = JSON.parse(await readFile(join(corpus, name), 'utf8')) as { target: string; says: string; base64: string };
  test(`${name}: ${entry.says}`, async () => {
    const target = targets.find((each) => each.name === entry.target);
    assert.ok(target, `there is no target ${entry.target}`);
    assert.equal(await problemOf(target, Buffer.from(entry.base64, 'base64')), undefined);
  });
}
const { seed } = makeChance();
for (const target of targets) {
  test(`${target.name}, changed: refused or taken, by its own errors`, async () => {
    const { failure } = await hunt(target, inputs, makeChance(seed), false);
    assert.equal(
      failure?.reason,
      undefined,
      failure && `${failure.reason}\n${Buffer.from(failure.input).toString('base64').slice(0, 4000)}`,
    );
  });
}
