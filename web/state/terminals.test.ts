import assert from 'node:assert/strict';
import { test } from 'node:test';

// The module reads the size of text that the browser keeps.
Object.assign(globalThis, { localStorage: { getItem: () => null, setItem: () => undefined } });
const { sizeCommand } = await import('./terminals.ts');

test('a shell behind a serial line is given the size of the terminal', () => {
  assert.equal(sizeCommand({ size: () => ({ columns: 132, rows: 43 }) }), 'stty cols 132 rows 43\r');
});
