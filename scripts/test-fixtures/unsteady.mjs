/** Fails when it is the first to run: `UNSTEADY_MARK` names a folder that the first try makes. */
import { existsSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';

const mark = process.env.UNSTEADY_MARK ?? '';
test('holds always', () => undefined);
test('holds the second time', () => {
  if (existsSync(mark)) return;
  mkdirSync(mark);
  throw new Error('the first time');
});
