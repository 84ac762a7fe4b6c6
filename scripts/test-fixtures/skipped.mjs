import { describe, test } from 'node:test';

describe('a suite', { skip: 'missing: a program' }, () => {
  test('needs a program', () => undefined);
});
