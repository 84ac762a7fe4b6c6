import { test } from 'node:test';

test('never holds', () => {
  throw new Error('each time');
});
