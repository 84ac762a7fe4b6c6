import assert from 'node:assert/strict';
import { it } from 'node:test';
import { effect } from '@preact/signals';
import { DraggedPlaces } from './dragged-places.ts';

const items = Array.from({ length: 1000 }, (_, number) => ({ id: String(number), x: number, y: 0, name: `N${number}` }));

it('a frame of a drag runs what draws the dragged items, and nothing else', () => {
  const dragged = new DraggedPlaces();
  const drawn: string[] = [];
  const ends = items.map((item) => effect(() => void drawn.push(`${dragged.placed(item.id, item).x} ${item.name}`)));
  drawn.length = 0;
  dragged.show(new Map([['3', { x: 50, y: 60 }]]));
  dragged.show(new Map([['3', { x: 51, y: 60 }]]));
  dragged.clear();
  for (const end of ends) end();
  assert.deepEqual(drawn, ['50 N3', '51 N3', '3 N3']);
});

it('an item that another client moves meanwhile stays where it is dragged', () => {
  const dragged = new DraggedPlaces();
  dragged.show(new Map([['0', { x: 5, y: 6 }]]));
  assert.deepEqual(dragged.placed('0', { x: 900, y: 900, name: 'N0' }), { x: 5, y: 6, name: 'N0' });
});
