import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { NodeNames } from './names.ts';

describe('node names', () => {
  it('keeps a free name, without its spaces', () => {
    const names = new NodeNames();
    assert.deepEqual(
      [names.allocate('PC1'), names.allocate('my pc'), names.allocate('x{1}'), names.allocate('x{')],
      ['PC1', 'mypc', 'x{1}', 'x{'],
    );
  });

  it('counts placeholders from 1 and fills gaps', () => {
    const names = new NodeNames();
    assert.deepEqual([names.allocate('PC{0}'), names.allocate('PC{0}'), names.allocate('PC{id}')], ['PC1', 'PC2', 'PC3']);
    names.release('PC2');
    assert.deepEqual([names.allocate('PC{0}'), names.allocate('PC{0}')], ['PC2', 'PC4']);
  });

  it('replaces the number at the end of a name that is taken', () => {
    const names = new NodeNames();
    assert.deepEqual([names.allocate('PC1'), names.allocate('PC1'), names.allocate('PC1')], ['PC1', 'PC2', 'PC3']);
    assert.deepEqual(
      [names.allocate('foo'), names.allocate('foo'), names.allocate('lab-01'), names.allocate('lab-01')],
      ['foo', 'foo1', 'lab-01', 'lab-1'],
    );
  });

  it('knows widths, doubled braces and {name}', () => {
    const names = new NodeNames();
    assert.deepEqual(
      [names.allocate('{name}-{0}'), names.allocate('{{{0:03d}}}'), names.allocate('{0:02d}')],
      ['Node-1', '{001}', '01'],
    );
  });

  it('refuses formats it does not know, and no name at all', () => {
    const names = new NodeNames();
    for (const format of ['{0}{foo}', '{0}{', '{0:x}', '  ']) {
      assert.throws(
        () => names.allocate(format),
        (error) => isFault(error, 'node_name_format'),
        format,
      );
    }
  });

  it('counts the own name as free when a node is renamed, and keeps it until it is released', () => {
    const names = new NodeNames();
    for (const name of ['PC1', 'PC2']) names.allocate(name);
    assert.equal(names.allocate('PC1', 'PC1'), 'PC1');
    assert.equal(names.allocate('PC1', 'PC2'), 'PC2');
    assert.equal(names.allocate('R{0}', 'PC2'), 'R1');
    assert.ok(names.has('PC2'));
  });
});
