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
