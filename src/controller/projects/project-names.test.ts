import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ProjectNames } from './projects.ts';

it('a name is free when no project has it: after renames, and for projects that share one', () => {
  const names = new ProjectNames<{ name: string }>();
  const [one, other] = [{ name: 'lab' }, { name: 'lab' }];
  names.note(one);
  names.note(other);
  names.note(other);
  assert.ok(names.has('lab'));
  one.name = 'ring';
  names.note(one);
  assert.deepEqual([names.has('lab'), names.has('ring')], [true, true]);
  names.forget(other);
  names.forget(other);
  assert.deepEqual([names.has('lab'), names.has('ring')], [false, true]);
  names.forget(one);
  assert.equal(names.has('ring'), false);
});
