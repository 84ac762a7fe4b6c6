/** Types have names of their own: no two files of the program declare a type of the same name. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { root, sourceFiles } from './sources.ts';

/** Still declared more than once. A name leaves this list when it has one meaning; none comes in. */
const known: readonly string[] = [];

it('the name of a type is unique in the program', async () => {
  const places = new Map<string, Set<string>>();
  for (const file of await sourceFiles()) {
    const text = await readFile(join(root, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)/gm)) {
      places.set(name, (places.get(name) ?? new Set()).add(file));
    }
  }
  const shared = [...places].filter(([, files]) => files.size > 1);
  assert.deepEqual(
    shared.filter(([name]) => !known.includes(name)).map(([name, files]) => `${name}: ${[...files].join(', ')}`),
    [],
  );
  assert.deepEqual(
    known.filter((name) => !shared.some(([other]) => other === name)),
    [],
  );
});
