import { test } from 'node:test';

test('never yields', async () => {
  // The runner receives the start of the test first.
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (;;);
});
