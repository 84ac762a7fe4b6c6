/** Accounts in the page, on a server with logins: the own account, sharing, refusals with their reasons, administration. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { openTab, picture } from '../support/browser.ts';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const boss = { user: 'boss', password: 'of the configuration' };
const erin = { user: 'erin', password: 'erins-password' };
const basic = ({ user, password }: typeof boss) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

let server: RunningServer;
let admin: RawClient;

before(async () => {
  server = await startServer({ config: { Server: { auth: true, ...boss } } });
  admin = new RawClient(server.url, basic(boss));
  await admin.post('/v3/access/users', { username: erin.user, password: erin.password, full_name: 'Erin Example' });
});
after(() => server.stop());

async function signIn(page: Page, { user, password }: typeof boss): Promise<void> {
  await page.locator('#user:focus').fill(user);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
}

async function open(login: typeof boss, path = '/') {
  const tab = await openTab(`${server.url}${path}`);
  await signIn(tab.page, login);
  return tab;
}

/** Pictures in both themes and in a narrow window, and no finding of accessibility. */
async function look(page: Page, name: string): Promise<void> {
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await picture(page, `view-${name}-${colorScheme}`);
    const { violations } = await page.evaluate<AxeResults>('axe.run()');
    assert.deepEqual(
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${name}, ${colorScheme}: ${id}: ${html.slice(0, 200)}`)),
      [],
    );
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

describe('the own account', () => {
  it('is shown, makes and revokes tokens, and changes its password', async () => {
    const { page, problems, close } = await open(erin);
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Account' });
    await dialog.getByText('Erin Example').waitFor();
    await dialog.getByText('No tokens.').waitFor();
    await dialog.getByLabel('Name').fill('scripts');
    await dialog.getByLabel('Days until it expires').fill('30');
    await dialog.getByText('Only these privileges').click();
    await dialog.getByRole('checkbox', { name: 'Project.Audit' }).check();
    await dialog.getByRole('button', { name: 'Make a token' }).click();
    const secret = await dialog.getByLabel('The new token').inputValue();
    assert.match(secret, /^pbt_/);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Token copied').waitFor();
    const row = dialog.getByRole('row', { name: /scripts/ });
    await row.getByText('1 privilege', { exact: true }).waitFor();
    await look(page, 'account');
    const client = new RawClient(server.url, { authorization: `Bearer ${secret}` });
    expectStatus(await client.send('GET /v2/projects'), 200);
    expectStatus(await client.send('POST /v2/projects', { body: { name: 'x' } }), 403);
    await dialog.getByRole('button', { name: 'Revoke scripts' }).click();
    await page.getByRole('dialog', { name: 'Revoke scripts?' }).getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('No tokens.').waitFor();
    expectStatus(await client.send('GET /v2/projects'), 401);

    const next = { ...erin, password: 'another-password' };
    await dialog.getByLabel('New password', { exact: true }).fill(next.password);
    await dialog.getByLabel('New password again').fill('another-passwort');
    await dialog.getByText('The two passwords differ.').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Change password' }).isDisabled());
    await dialog.getByLabel('New password again').fill(next.password);
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('heading', { name: 'Sign in to Patchbay' }).waitFor();
    await page.waitForURL(`${server.url}/`);
    await signIn(page, next);
    expectStatus(await new RawClient(server.url, basic(erin)).send('GET /v2/projects'), 401);
    const [{ user_id } = { user_id: '' }] = (await admin.get<{ username: string; user_id: string }[]>('/v3/access/users')).filter(
      ({ username }) => username === erin.user,
    );
    await admin.put(`/v3/access/users/${user_id}`, { password: erin.password });
    assert.deepEqual(problems, []);
    await close();
  });

  it('says why the password of the configured user stays', async () => {
    const { page, close } = await open(boss);
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Account' });
    await dialog.getByLabel('New password', { exact: true }).fill('another-password');
    await dialog.getByLabel('New password again').fill('another-password');
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await dialog.getByText("'boss' is the user of the configuration: change it there").waitFor();
    await close();
  });
});
