import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eachNamed, matching } from './matching.ts';

const nodes = ['PC1', 'PC10', 'SW-1', 'Cloud 1'];
const byName = (text: string) => matching(nodes, text, (name) => ({ whole: [name] }));
const links = [
  ['PC10', 'SW-1'],
  ['PC1', 'SW-1'],
  ['PC2', 'PC1'],
] as const;
const link = (text: string) =>
  matching(links, text, ([one, other]) => ({ whole: [one + other, other + one], parts: [one, other] })).map((ends) =>
    ends.join(' '),
  );

describe('names in commands', () => {
  it('name a node by its name before one whose name begins so', () => {
    assert.deepEqual(byName('pc1'), ['PC1', 'PC10']);
    assert.deepEqual(byName('cloud 1'), ['Cloud 1']);
    assert.deepEqual(byName('R'), []);
    assert.deepEqual(byName(' '), nodes);
  });

  it('name a link by its nodes in either order, or by one of them', () => {
    for (const text of ['PC1-SW-1', 'sw1 pc1', 'PC1 – SW-1']) assert.equal(link(text)[0], 'PC1 SW-1', text);
    assert.deepEqual(link('PC2'), ['PC2 PC1']);
    assert.deepEqual(link('pc1'), ['PC1 SW-1', 'PC2 PC1', 'PC10 SW-1']);
  });

  it('name several nodes only when each word is a name', () => {
    const several = (text: string) => eachNamed(nodes, text, (name) => name);
    assert.deepEqual(several('pc1, PC10'), ['PC1', 'PC10']);
    assert.equal(several('PC1'), undefined);
    assert.equal(several('PC1 PC1'), undefined);
    assert.equal(several('PC1 PC2'), undefined);
  });
});
