import assert from 'node:assert/strict';
import { it } from 'node:test';
import { batch, effect } from '@preact/signals';
import { Keyed } from './keyed.ts';

it('what shows an object that is removed and added again in one turn shows the new one', () => {
  const links = new Keyed<{ id: string; to: string }>(({ id }) => id);
  links.put({ id: '1', to: 'B' });
  const shown: (string | undefined)[] = [];
  const stop = effect(() => {
    shown.push(links.signalOf('1')?.value?.to);
  });
  batch(() => {
    links.remove('1');
    links.put({ id: '1', to: 'C' });
  });
  links.put({ id: '1', to: 'D' });
  stop();
  assert.deepEqual(shown, ['B', 'C', 'D']);
});

it('an equal object, as the server sends it after a change that is shown already, shows nothing anew', () => {
  const nodes = new Keyed<{ id: string; x: number; ports: readonly string[] }>(({ id }) => id);
  const node = (x: number) => ({ id: '1', x, ports: ['e0'] });
  nodes.put(node(1));
  const shown: number[] = [];
  const stop = effect(() => void shown.push(nodes.all.value.length));
  nodes.put(node(1));
  nodes.replaceAll([node(1)]);
  nodes.put(node(2));
  stop();
  assert.equal(shown.length, 2);
});
