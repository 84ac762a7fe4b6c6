import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { kinds } from '../../emulators/kinds.ts';
import { ImageClaims } from './image-claims.ts';

const kindOf = (type: 'qemu' | 'dynamips') => kinds[type] ?? assert.fail(type);
const [machine, router] = [kindOf('qemu'), kindOf('dynamips')];
const user = (image: string, kind = machine) => ({ kind, name: 'R1', properties: { hda_disk_image: image } });

test('an image is not deleted while a node is being made of it; another image, and one of another folder, are', async () => {
  const claims = new ImageClaims();
  const making = Promise.withResolvers<void>();
  const made = claims.during(user('/images/a.img'), () => making.promise);
  const deleted: string[] = [];
  const remove = (name: string, kind = machine) =>
    claims.remove({ kind, name }, [], async () => {
      deleted.push(`${kind.type} ${name}`);
    });
  await assert.rejects(remove('a.img'), (error) => isFault(error, 'image_in_use') && /"R1"/.test(error.message));
  await remove('b.img');
  await remove('a.img', router);
  making.resolve();
  await made;
  await remove('sub/a.img');
  assert.deepEqual(deleted, ['qemu b.img', 'dynamips a.img', 'qemu sub/a.img']);
  await assert.rejects(
    claims.remove({ kind: machine, name: 'c.img' }, [user('c.img')], async () => assert.fail('it was deleted')),
    (error) => isFault(error, 'image_in_use'),
  );
});

test('a node that comes while its image is deleted waits for that, also when it fails', async () => {
  const claims = new ImageClaims();
  const steps: string[] = [];
  const deleting = Promise.withResolvers<void>();
  const removed = claims.remove({ kind: machine, name: 'a.img' }, [], () => deleting.promise);
  const other = claims.during(user('b.img'), async () => steps.push('other'));
  const made = claims.during(user('a.img'), async () => steps.push('made'));
  await other;
  steps.push('deleted');
  deleting.reject(new Error('no'));
  await assert.rejects(removed, /no/);
  await made;
  assert.deepEqual(steps, ['other', 'deleted', 'made']);
});
