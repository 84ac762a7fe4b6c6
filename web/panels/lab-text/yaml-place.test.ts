import assert from 'node:assert/strict';
import { test } from 'node:test';
import { yamlPlaceAt } from './yaml-place.ts';

/** `|` is the cursor. */
const at = (text: string) => {
  const place = yamlPlaceAt((text.split('|')[0] ?? '').split('\n'));
  return place && `${place.path.join('/')} ${place.isKey ? 'key' : 'value'} ${place.typed}`.trim();
};

test('keys and values of blocks', () => {
  assert.equal(at('na|'), 'key na');
  assert.equal(at('nodes:\n  PC1:\n    ki|'), 'nodes/PC1 key ki');
  assert.equal(at('nodes:\n  PC1:\n    kind: v|'), 'nodes/PC1/kind value v');
  assert.equal(at('nodes:\n  PC1:\n    kind: |'), 'nodes/PC1/kind value');
  assert.equal(at('nodes:\n  PC1:\n    kind: vpcs\n\n  # x\n  PC2:\n    properties:\n      ra|'), 'nodes/PC2/properties key ra');
  assert.equal(at('nodes:\n  PC1:\n    kind: vpcs\nli|'), 'key li');
});

test('items of lists', () => {
  assert.equal(at('links:\n  - en|'), 'links/- key en');
  assert.equal(at('links:\n  - ends: [A, B]\n    fil|'), 'links/- key fil');
  assert.equal(at('links:\n  - ends: [A, B]\n    filters:\n      de|'), 'links/-/filters key de');
  assert.equal(at('links:\n- ends: [A, B]\n  sus|'), 'links/- key sus');
});

test('maps and lists on one line', () => {
  assert.equal(at('nodes:\n  PC1: {kind: vpcs, x|'), 'nodes/PC1 key x');
  assert.equal(at('nodes:\n  PC1: {kind: vp|'), 'nodes/PC1/kind value vp');
  assert.equal(at('links:\n  - [PC1, P|'), 'links/-/- value P');
  assert.equal(at('links:\n  - {ends: [PC1, PC2], filters: {de|'), 'links/-/filters key de');
});

test('comments have none', () => {
  assert.equal(at('# na|'), undefined);
});
