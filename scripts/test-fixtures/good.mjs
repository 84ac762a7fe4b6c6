import { after, before, test } from 'node:test';

before(() => undefined);
after(async () => undefined);
test('passes', () => undefined);
