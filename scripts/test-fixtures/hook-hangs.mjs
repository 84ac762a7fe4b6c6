import { before, test } from 'node:test';

before(async () => {
  const alive = setInterval(() => undefined, 1000);
  await new Promise((resolve) => setTimeout(resolve, 600_000));
  clearInterval(alive);
});
test('never begins', () => undefined);
