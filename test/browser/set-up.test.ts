/** The page of the address that a server without a password prints at its start. */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import { openTab } from '../support/browser.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ config: { Server: { auth: true, user: 'chief' } } });
after(() => server.stop());

it('sets the password of the first administrator, who then signs in', async () => {
  const [address = ''] = /\S+\/setup#\S+/.exec(server.output()) ?? [];
  const { page, problems, close } = await openTab(address);
  const type = async (first: string, second: string) => {
    await page.getByLabel('Password').fill(first);
    await page.getByLabel('Once more').fill(second);
    await page.getByRole('button', { name: 'Set the password' }).click();
  };
  assert.equal(new URL(page.url()).hash, '');
  await page.evaluate(axe.source).catch(() => undefined);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  assert.deepEqual(
    violations.map(({ id }) => id),
    [],
  );
  await type('first-password', 'another-password');
  await page.getByText('The two passwords differ.').waitFor();
  await type('first-password', 'first-password');
  await page.locator('#user:focus').fill('chief');
  await page.getByLabel('Password').fill('first-password');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
  assert.deepEqual(problems, []);
  await close();
  const used = await openTab(address);
  await used.page.getByLabel('Password').fill('second-password');
  await used.page.getByLabel('Once more').fill('second-password');
  await used.page.getByRole('button', { name: 'Set the password' }).click();
  await used.page.getByText('was used, or has expired').waitFor();
  await used.close();
});
