import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overrides } from './overrides.ts';

const node = (x: number) => ({ name: 'R1', x, y: 0 });

describe('an override of an item', () => {
  it('is shown instead of what the server sends', () => {
    const overrides = new Overrides<{ x: number }>();
    overrides.hold('one', { x: 5 });
    assert.deepEqual(overrides.applied('one', node(1)), node(5));
    assert.deepEqual(overrides.applied('other', node(1)), node(1));
  });

  it('gives way to a change that followed it on the server, such as an undo, although the answer arrives later', () => {
    const overrides = new Overrides<{ x: number }>();
    overrides.hold('one', { x: 5 });
    overrides.applied('one', node(5));
    overrides.applied('one', node(1));
    assert.deepEqual(overrides.release('one'), node(1));
    assert.deepEqual(overrides.applied('one', node(1)), node(1));
  });

  it('does not give way to what the server sent before it stored the override', () => {
    const overrides = new Overrides<{ x: number }>();
    overrides.hold('one', { x: 3 });
    overrides.hold('one', { x: 5 });
    overrides.applied('one', node(1));
    overrides.applied('one', node(3));
    assert.equal(overrides.release('one'), undefined);
  });

  it('is released only by its owner', () => {
    const overrides = new Overrides<{ x: number }>();
    const [first, second] = [{ x: 3 }, { x: 5 }];
    overrides.hold('one', first);
    overrides.hold('one', second);
    overrides.release('one', first);
    assert.equal(overrides.applied('one', node(1)).x, 5);
  });
});
