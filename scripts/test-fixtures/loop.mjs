import { test } from 'node:test';

test('never yields', async () => {
  // The runner hears of the test first.
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (;;);
});
