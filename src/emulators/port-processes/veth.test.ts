/** Interfaces of containers whose server died with them. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ContainerEnd, noContainerEnds } from '../../../test/support/container-end.ts';
import { listInterfaces } from './interfaces.ts';
import { makeTap, removeInterfaces, removeUnowned } from './veth.ts';

const skip = (await noContainerEnds()) ?? false;
const present = async (name: string) => (await readdir('/sys/class/net')).includes(name);

test('a server removes its own interfaces that no node has, and no others', { skip }, async (context) => {
  const owner = await mkdtemp(join(tmpdir(), 'veth-test-'));
  context.after(() => rm(owner, { recursive: true }));
  const [mine, kept] = [await ContainerEnd.make(owner, '10.73.0.1/24'), await ContainerEnd.make(owner, '10.73.0.2/24')];
  context.after(() => Promise.all([mine.remove(), kept.remove()]));
  const foreign = `pbt${process.pid}x`;
  await makeTap(foreign, { owner: `${owner}-other` });
  context.after(() => removeInterfaces([foreign]));
  const shown = new Set((await listInterfaces('')).map(({ name }) => name));
  assert.deepEqual(
    [mine.names.tap, mine.names.hostEnd, foreign].map((name) => shown.has(name)),
    [false, false, true],
  );
  const owned = new Set([kept.names.tap, kept.names.hostEnd]);
  assert.equal(await removeUnowned(owner, owned), 2);
  for (const name of [...owned, foreign]) assert.ok(await present(name), name);
  for (const name of [mine.names.tap, mine.names.hostEnd]) assert.ok(!(await present(name)), name);
  assert.equal(await removeUnowned(owner, owned), 0);
});

test('what cannot be made leaves nothing, and says why', { skip }, async () => {
  await assert.rejects(makeTap('pbtsixteen-chars', { owner: '/nowhere' }), /pbtsixteen-chars/);
  const name = `pbt${process.pid}y`;
  await assert.rejects(makeTap(name, { owner: '/nowhere', bridge: 'pbnobridge' }), /pbnobridge|does not exist|Cannot find/);
  assert.ok(!(await present(name)));
});
