/** Exports are for other files: without an importer, a declaration is private, so that the linter finds it when nothing uses it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { filesBelow, root, sourceFiles } from './sources.ts';

/** Still exported without an importer. A name may leave this list; none comes in. */
const known: readonly string[] = [
  'AnnouncedProject',
  'ChangeOf',
  'Collecting',
  'ExportOptions',
  'ForkOptions',
  'ForkSource',
  'ImportWanted',
  'LogOptions',
  'RemotePart',
  'SnapshotMemoryParts',
  'SnapshotWanted',
  'SnapshotsOptions',
  'StagedMemory',
  'UnpackOptions',
  'WarmTemplatesParts',
];

const folders = ['src', 'lab', 'cli', 'web', 'test', 'bench', 'demo', 'clients/typescript/src', 'scripts'];
const declaration = /^export (?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type) (\w+)/gm;

it('an export of the program is named in another file', async () => {
  const found = await Promise.all(
    folders.map(async (folder) => (await filesBelow(join(root, folder), /\.(tsx?|mjs)$/)).map((file) => `${folder}/${file}`)),
  );
  const files = found.flat();
  const users = new Map<string, Set<string>>();
  const texts = new Map<string, string>();
  for (const file of files) {
    // This list does not use them.
    if (file === 'test/architecture/exports.test.ts') continue;
    const text = await readFile(join(root, file), 'utf8');
    texts.set(file, text);
    for (const word of new Set(text.match(/\w+/g))) users.set(word, (users.get(word) ?? new Set()).add(file));
  }
  const alone = (await sourceFiles()).flatMap((file) => {
    const names = Array.from((texts.get(file) ?? '').matchAll(declaration), ([, name = '']) => name);
    return names.filter((name) => users.get(name)?.size === 1 && !known.includes(name)).map((name) => `${file}: ${name}`);
  });
  assert.deepEqual(alone, []);
});
