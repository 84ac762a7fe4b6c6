import { describe, it } from 'node:test';

describe('a suite', () => {
  it('has a first test', () => undefined);
  it('has a second one, which prints nothing for six seconds', () => new Promise((resolve) => setTimeout(resolve, 6000)));
});
