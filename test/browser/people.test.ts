/** Accounts in the page, on a server with logins: the own account, sharing, refusals with their reasons, administration. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { openTab, picture } from '../support/browser.ts';
import { expectStatus, RawClient } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { createNode, createProject } from '../support/with-server.ts';
import { canvas, middleOf, toCanvas } from './page-parts.ts';

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

describe('a shared project', () => {
  it('appears to the other account without loading the page again, which may do what its role allows', async () => {
    const project = await createProject(admin, { name: 'Shared lab', auto_close: false });
    const node = await createNode(admin, project, 'vpcs', { name: 'PC1' });
    const [sharing, seeing] = await Promise.all([open(boss, `/projects/${project.id}`), open(erin)]);
    await seeing.page.getByText('No project is shared with your account yet.').waitFor();
    await sharing.page.getByRole('button', { name: 'Share the project' }).click();
    const dialog = sharing.page.getByRole('dialog', { name: 'Share Shared lab' });
    await dialog.getByText('only super admins can see it').waitFor();
    await dialog.getByLabel('Name').fill('missing-user');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText("The user 'missing-user' does not exist").waitFor();
    await dialog.getByLabel('Name').fill(erin.user);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText(`Auditor on /projects/${project.id}`).waitFor();
    await look(sharing.page, 'share');

    // An auditor of this project only: everything is readable, and what is refused says why.
    const { page } = seeing;
    await page.getByText('Shared lab').click();
    await canvas(page).node('PC1').click();
    await page.locator('.inspector h2', { hasText: 'PC1' }).waitFor();
    const start = page.getByRole('button', { name: 'Start', exact: true }).first();
    assert.equal(await start.getAttribute('aria-disabled'), 'true');
    assert.match((await start.getAttribute('title')) ?? '', /lacks Node.PowerMgmt/);
    // Playwright takes a greyed button for one that cannot be clicked.
    await start.click({ force: true });
    await page.getByText(`No entry with Node.PowerMgmt applies to /projects/${project.id}/nodes/start. Ask boss.`).waitFor();
    await look(page, 'refused');
    for (const name of ['Activity', 'Snapshots', 'Captures']) {
      await toCanvas(page);
      await page.getByRole('button', { name, exact: true }).click();
      await page.locator('dialog[open]').waitFor();
    }
    await toCanvas(page);
    await page.getByRole('button', { name: 'Notes', exact: true }).click();
    await page.getByLabel('Notes in Markdown').waitFor();
    await page.getByRole('button', { name: 'Close the notes' }).click();
    await toCanvas(page);
    await page.getByRole('button', { name: 'Share the project' }).click();
    await page.getByText('You may not change who can see and change this project. Ask boss.').waitFor();
    await toCanvas(page);
    const [x, y] = await middleOf(canvas(page).node('PC1'));
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 80, y + 40, { steps: 4 });
    await page.mouse.up();
    await page
      .getByText(/No entry with Node.Modify applies to/)
      .first()
      .waitFor();
    const { x: kept } = await admin.get<{ x: number }>(`${project.path}/nodes/${node.node_id}`);
    assert.equal(kept, node.x);

    // A role that is given acts at once, also on the open page.
    await dialog.getByLabel(`Role of ${erin.user}`).selectOption('work');
    await dialog.getByText(`User on /projects/${project.id}`).waitFor();
    await page.locator('button[aria-label="Start all"]:not([aria-disabled])').click();
    await page.locator('.node.started, .node-list .dot.started, .dot.started').first().waitFor({ state: 'attached' });
    // And so does one that is taken away.
    await dialog.getByRole('button', { name: `Remove ${erin.user}` }).click();
    await page.getByRole('heading', { name: 'This project does not exist, or your account may not see it.' }).waitFor();
    assert.deepEqual([...sharing.problems, ...seeing.problems], []);
    await Promise.all([sharing.close(), seeing.close()]);
  });
});

describe('the administration', () => {
  it('adds users, groups, roles, entries and pools, and explains a decision, by keyboard and in narrow windows', async () => {
    await createProject(admin, { name: 'Course lab', auto_close: false });
    const { page, problems, close } = await open(boss);
    await page.getByRole('link', { name: 'Accounts' }).click();
    const dialog = page.getByRole('dialog');
    const part = async (name: string) => {
      await page.getByRole('navigation', { name: 'Accounts and rights' }).getByRole('link', { name }).click();
      await page.getByRole('table', { name }).or(page.locator('.empty')).first().waitFor();
    };
    const command = async (row: string, entry: string) => {
      await page.getByRole('button', { name: `Actions for ${row}`, exact: true }).click();
      await page.getByRole('menuitem', { name: entry, exact: true }).click();
    };
    const row = (name: string) => page.locator('.data-table').getByRole('row', { name: new RegExp(name) });

    await row('erin').getByText('active').waitFor();
    await page.getByRole('button', { name: 'Add a user' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Name', { exact: true }).fill('dana');
    await dialog.getByLabel('Password').fill('short');
    await page.keyboard.press('Enter');
    await dialog.getByText('password: String should have at least 8 characters').waitFor();
    await look(page, 'accounts-add');
    await dialog.getByLabel('Password').fill('danas-password');
    await page.keyboard.press('Enter');
    await row('dana').waitFor();
    const dana = new RawClient(server.url, basic({ user: 'dana', password: 'danas-password' }));
    expectStatus(await dana.send('GET /v2/projects'), 200);
    await command('dana', 'Edit');
    await dialog.getByLabel('Full name').fill('Dana Example');
    await page.keyboard.press('Enter');
    await row('dana').getByText('Dana Example').waitFor();
    await command('dana', 'Disable');
    await row('dana').getByText('disabled').waitFor();
    expectStatus(await dana.send('GET /v2/projects'), 401);
    await command('dana', 'Enable');
    await row('dana').getByText('active').waitFor();
    await command('dana', 'Set a password');
    await dialog.getByLabel('Password').fill('another-password');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expectStatus(await dana.send('GET /v2/projects'), 401);
    await command('dana', 'Make a super admin');
    await row('dana').getByText('Super admin, active').waitFor();
    await command('dana', 'Delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText("Super admin 'dana' cannot be deleted").waitFor();
    await command('dana', 'No super admin any more');
    await row('dana')
      .getByText(/^active/)
      .waitFor();
    await look(page, 'accounts-users');

    await part('Groups');
    await page.getByRole('button', { name: 'Add a group' }).click();
    await dialog.getByLabel('Name').fill('class');
    await page.keyboard.press('Enter');
    await row('class').waitFor();
    await command('class', 'Members');
    await dialog.getByLabel('Add').first().selectOption({ label: 'dana' });
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByRole('listitem').getByText('dana').waitFor();
    await look(page, 'accounts-members');
    await page.keyboard.press('Escape');

    await part('Roles');
    await page.getByRole('button', { name: 'Add a role' }).click();
    await dialog.getByLabel('Name').fill('starter');
    await page.keyboard.press('Enter');
    await row('starter').waitFor();
    await command('starter', 'Privileges');
    for (const name of ['Project.Audit', 'Node.PowerMgmt']) {
      await dialog.getByRole('checkbox', { name }).click();
      await page.locator(`input[aria-label="${name}"]:checked`).waitFor();
    }
    await look(page, 'accounts-privileges');
    await page.keyboard.press('Escape');
    await row('starter').getByRole('cell', { name: '2', exact: true }).waitFor();

    await part('Resource pools');
    await page.getByRole('button', { name: 'Add a pool' }).click();
    await dialog.getByLabel('Name').fill('course');
    await page.keyboard.press('Enter');
    await row('course').waitFor();
    await command('course', 'Projects');
    await dialog.getByLabel('Add').first().selectOption({ label: 'Course lab' });
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByRole('listitem').getByText('Course lab').waitFor();
    await page.keyboard.press('Escape');
    const [pool] = await admin.get<{ resource_pool_id: string }[]>('/v3/pools');

    // The dialog is open before the server has answered the lists of its choices.
    const lists = /\/v3\/access\/(users|groups|roles)$/;
    const { promise: isOpen, resolve: answer } = Promise.withResolvers<void>();
    await page.route(lists, async (route) => {
      await isOpen;
      await route.continue();
    });
    await part('Access list');
    await page.getByRole('button', { name: 'Add an entry' }).click();
    await dialog.getByLabel('Role').waitFor();
    answer();
    await dialog.getByLabel('Kind').selectOption({ label: 'Group' });
    await dialog.getByLabel('Who').selectOption({ label: 'class' });
    await dialog.getByLabel('Path', { exact: true }).fill(`/pools/${pool?.resource_pool_id}`);
    await dialog.getByLabel('Role').selectOption({ label: 'starter' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await row('class').getByText('Resource pool "course"').waitFor();
    const project = (await admin.get<{ name: string; project_id: string }[]>('/v2/projects')).find(
      ({ name }) => name === 'Course lab',
    );
    await page.getByLabel('User', { exact: true }).selectOption({ label: 'dana' });
    await page.getByLabel('Method').selectOption('POST');
    await page.getByLabel('Path of the request').fill(`/v2/projects/${project?.project_id}/nodes/start`);
    await page.keyboard.press('Enter');
    await page.getByText('dana may.').waitFor();
    await page.getByText(/The entry of the group 'class' on \/pools\/.* with the role 'starter' grants Node.PowerMgmt/).waitFor();
    await look(page, 'accounts-entries');
    await page.setViewportSize({ width: 420, height: 800 });
    await look(page, 'accounts-narrow');
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(overflow <= 0, `${overflow} pixels wider than the window`);
    await page.setViewportSize({ width: 1280, height: 800 });
    await command('class', 'Delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No entries').waitFor();
    assert.deepEqual(problems, []);
    await close();
  });

  it('is offered only to accounts that may read a part of it', async () => {
    const { page, close } = await open(erin);
    await page.getByRole('link', { name: 'Templates' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Accounts' }).count(), 0);
    await page.goto(`${server.url}/accounts`);
    await page.getByText('Your account may not read accounts and rights.').waitFor();
    await close();
  });
});

describe('a project that the account may not see', () => {
  it('says so and whom to ask, and a closed one that it may not open says why', async () => {
    const hidden = await createProject(admin, { name: 'Hidden' });
    const { page, problems, close } = await open(erin, `/projects/${hidden.id}`);
    await page.getByRole('heading', { name: 'This project does not exist, or your account may not see it.' }).waitFor();
    await page.getByText(/No entry with Project.Audit applies to .* Ask boss\./).waitFor();
    await admin.post(`${hidden.path}/close`, {}, 204);
    await admin.put(`/v3/projects/${hidden.id}/access`, { ace_type: 'user', name: erin.user, level: 'view' });
    await page.goto(`${server.url}/projects/${hidden.id}`);
    await page.getByRole('heading', { name: 'Hidden' }).waitFor();
    await page.getByText(/No entry with Project.Allocate applies to .*\/open\. Ask boss\./).waitFor();
    assert.deepEqual(problems, []);
    await close();
  });
});
