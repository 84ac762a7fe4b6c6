import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInVolumes, unseenFile } from './container-files.ts';

test('a file is seen below a volume of the node, and in the folders of the kind', () => {
  const own = ['etc/network/interfaces', 'startup.cfg'];
  const seen = (path: string, volumes: unknown = []) => isInVolumes(path, volumes, own);
  assert.ok(seen('etc/frr/frr.conf', ['/etc/frr']) && seen('etc/frr/a/b', ['/etc//frr/']));
  assert.ok(seen('etc/network/if-up.d/x') && seen('startup.cfg'));
  for (const volumes of [[], ['/etc/frrx'], ['/'], '/etc/frr', [1], undefined]) assert.ok(!seen('etc/frr/frr.conf', volumes));
  assert.ok(!seen('startup.cfg.old'));
});

test('volumes of the image count where they are known', () => {
  assert.equal(unseenFile('R1', 'kept/x', ['/kept']), undefined);
  assert.match(unseenFile('R1', 'root/x', ['/kept']) ?? '', /does not see the file root\/x/);
  assert.match(unseenFile('R1', 'root/x', undefined) ?? '', /only if its image declares a volume/);
});
