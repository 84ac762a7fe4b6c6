/** The first steps of a user: from an empty server to two wired, started PCs that ping each other in the browser's console. */
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Route } from 'playwright-core';
import type { Project } from '../../src/schema/project.ts';
import { openTab, picture } from '../support/browser.ts';
import { withServer } from '../support/with-server.ts';
import { canvas, consoleText, type } from './page-parts.ts';

const { server, client } = await withServer();
const { page, problems } = await openTab(server.url);

describe('a first lab, in the browser', () => {
  it('begins with an empty list and a new project', async () => {
    await page.getByRole('button', { name: 'Build the demo lab' }).waitFor();
    await picture(page, 'empty');
    await page.getByRole('button', { name: 'New project' }).first().click();
    await page.getByLabel('Name').fill('First lab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/projects\/[\w-]{36}$/);
    await page.getByRole('heading', { name: 'First lab' }).first().waitFor();
  });

  it('adds nodes with a click and by dragging', async () => {
    const vpcs = page.getByRole('button', { name: 'VPCS' });
    await vpcs.click();
    await canvas(page).node('PC1').waitFor();
    await vpcs.dragTo(page.locator('svg.canvas'), { targetPosition: { x: 560, y: 250 } });
    await canvas(page).node('PC2').waitFor();
  });

  it('offers only commands that the node’s kind supports', async () => {
    const panel = page.locator('aside.inspector');
    const verbs = () => panel.locator('.button-grid button').allTextContents();
    await canvas(page).node('PC1').click();
    await panel.getByRole('heading', { name: 'PC1' }).waitFor();
    assert.deepEqual(await verbs(), ['Console', 'Start', 'Stop', 'Reload']);
    await page.getByRole('button', { name: 'Ethernet hub' }).click();
    await panel.getByRole('heading', { name: 'Hub1' }).waitFor();
    await panel.getByText('Always runs').waitFor();
    assert.deepEqual(await verbs(), []);
    await page.keyboard.press('Escape');
    await canvas(page).node('Hub1').click();
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByText('Hub1').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await canvas(page).node('Hub1').waitFor({ state: 'detached' });
  });

  it('links two ports', async () => {
    await page.getByRole('button', { name: 'Add a link' }).click();
    await canvas(page).node('PC1').click();
    await page.getByText('PC1 Ethernet0').waitFor();
    await canvas(page).node('PC2').click();
    await page.locator('.link').waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
  });

  it('starts all nodes and shows that they run', async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Start all' }).first().click();
    await page.getByText('2 nodes, 2 running').waitFor();
  });

  it('pings from one PC to the other in a console', async () => {
    await canvas(page).node('PC2').dblclick();
    await consoleText(page, /PC2>/);
    await type(page, 'ip 10.1.0.2/24');
    await consoleText(page, /PC\d : 10\.1\.0\.2/);
    await canvas(page).node('PC1').dblclick();
    await consoleText(page, /PC1>/);
    await type(page, 'ip 10.1.0.1/24');
    await consoleText(page, /PC\d : 10\.1\.0\.1/);
    await type(page, 'ping 10.1.0.2 -c 3');
    await consoleText(page, /10\.1\.0\.2 icmp_seq=3 ttl/);
    await picture(page, 'console');
  });

  it('sends text that was typed before the console connected', async () => {
    const requested = Promise.withResolvers<void>();
    const connect = Promise.withResolvers<void>();
    await page.route('**/v2/tickets', async (route) => {
      requested.resolve();
      await connect.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Move to a new pane' }).click();
    await requested.promise;
    await page.locator('.pane.current .xterm-screen').click();
    await type(page, 'echo typed early');
    connect.resolve();
    await consoleText(page, /> echo typed early/, { of: 'PC1' });
    await page.unroute('**/v2/tickets');
  });

  it('moves a node, which keeps its position after a reload of the page', async () => {
    const node = canvas(page).node('PC1');
    const place = () => node.getAttribute('transform');
    const before = await place();
    // A reload would end the request.
    const stored = page.waitForResponse((answer) => answer.request().method() === 'PUT' && answer.url().includes('/nodes/'));
    await node.dragTo(page.locator('svg.canvas'), { targetPosition: { x: 200, y: 120 } });
    await stored;
    const moved = await place();
    assert.notEqual(moved, before);
    await page.reload();
    await node.waitFor();
    assert.equal(await place(), moved);
  });

  it('stops all nodes, closes the project, and deletes it after confirmation', async () => {
    await page.getByRole('button', { name: 'Stop all' }).first().click();
    await page.getByText('2 nodes, 0 running').waitFor();
    await page.getByRole('link', { name: 'Projects' }).click();
    await page.getByText('2 nodes, 1 link').waitFor();
    assert.equal(await page.locator('.project-icon circle').count(), 2);
    await page.getByRole('button', { name: 'Actions for First lab' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('button', { name: 'Build the demo lab' }).waitFor();
  });

  it('makes a sample lab with one click, runs it, and says in its notes what to try', async () => {
    await page.goto(server.url);
    for (const [title, count] of [
      ['Campus with VLANs', 9],
      ['Lossy WAN', 6],
    ] as const) {
      await page.getByRole('button', { name: 'Sample labs' }).first().click();
      const card = page.locator('.sample', { hasText: title });
      await card
        .locator('svg circle')
        .nth(count - 1)
        .waitFor();
      await page.getByRole('button', { name: `Create: ${title}` }).click();
      await page.waitForURL(/\/projects\/[0-9a-f-]{36}$/);
      const path = `/v2/projects/${page.url().split('/').at(-1)}`;
      const nodes = await client.get<{ status: string }[]>(`${path}/nodes`);
      assert.deepEqual(
        nodes.map(({ status }) => status),
        Array.from({ length: count }, () => 'started'),
      );
      await page.getByRole('heading', { name: 'Try it' }).waitFor();
      await page.getByRole('button', { name: 'Close the notes' }).click();
      await client.send(`DELETE ${path}`);
      await page.getByRole('link', { name: 'Projects' }).first().click();
      await page.getByRole('button', { name: 'Sample labs' }).first().waitFor();
    }
  });

  it('shows a picture of each sample, and makes a missing image first, or says why it cannot', async () => {
    await page.route('**/v2/labs/plan', async (route) => {
      const answer = await route.fetch();
      const isDns = route.request().postData()?.includes('patchbay-dns');
      const missing = [{ image: 'patchbay-dns', kind: 'docker', compute: 'local', nodes: ['CLIENT', 'SERVER'] }];
      await route.fulfill({ json: { ...(await answer.json()), ...(isDns && { missing }) } });
    });
    await page.getByRole('button', { name: 'Sample labs' }).first().click();
    const cards = page.locator('.sample');
    await cards.nth(6).waitFor();
    assert.equal(await cards.count(), 7);
    for (let place = 0; place < 7; place += 1) await cards.nth(place).locator('svg circle').nth(1).waitFor();
    const dns = cards.filter({ hasText: 'DNS over a satellite line' });
    await dns.getByText(/^patchbay-dns is not there yet: it is made first/).waitFor();
    await picture(page, 'sample-cards');
    const answer = {
      contentType: 'application/x-ndjson',
      body: '{"step":"Image patchbay-dns: 1 of 1"}\n{"failure":"no engine"}\n',
    };
    await page.route('**/v2/lab_images', (route) => route.fulfill(answer));
    await dns.getByRole('button').click();
    await page.getByText(/patchbay-dns could not be made: no engine\. .*"patchbay images" makes the images/).waitFor();
    await page.unroute('**/v2/lab_images');
    await page.unroute('**/v2/labs/plan');
    await page.keyboard.press('Escape');
  });

  it('leaves no project of a sample lab that cannot be completed', async () => {
    const answer = { contentType: 'application/x-ndjson', body: '{"failure":"the image is missing"}\n' };
    await page.route('**/v2/labs/apply', (route) => route.fulfill(answer));
    await page.getByRole('button', { name: 'Sample labs' }).first().click();
    await page.getByRole('button', { name: 'Create: Three FRR routers with OSPF' }).click();
    await page.getByText('the image is missing').waitFor();
    const left = await client.get<{ name: string }[]>('/v2/projects');
    assert.ok(!left.some(({ name }) => name.startsWith('Three FRR')));
    await page.unroute('**/v2/labs/apply');
    await page.keyboard.press('Escape');
    // A dialog that was closed meanwhile cannot show it.
    const { promise: closed, resolve: fail } = Promise.withResolvers<void>();
    await page.route('**/v2/labs/apply', (route) => closed.then(() => route.fulfill(answer)));
    await page.getByRole('button', { name: 'Sample labs' }).first().click();
    await page.getByRole('button', { name: 'Create: Three FRR routers with OSPF' }).click();
    await page.getByRole('progressbar').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    fail();
    await page.getByText('"Three FRR routers with OSPF" could not be made: the image is missing').waitFor();
    await page.unroute('**/v2/labs/apply');
  });

  it('shows the plan of a lab file as a list and a picture, says where an error is, and applies it', async () => {
    const lab = (text: string) => ({ name: 'pair.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
    await page.getByRole('button', { name: 'Lab file' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Lab file').setInputFiles(lab('nodes:\n  PC1: {kind: vpsc}\n'));
    await dialog.getByText('pair.yaml:2:9').waitFor();
    await dialog.getByLabel('Lab file').setInputFiles(lab('nodes:\n  R[1-2]: {kind: qemu, image: absent.qcow2}\n'));
    await dialog.locator('.lab-missing li', { hasText: /absent\.qcow2 needed by R1, R2/ }).waitFor();
    await dialog.getByLabel('Lab file').setInputFiles(lab('nodes:\n  PC[1-2]: {kind: vpcs}\nlinks:\n  - [PC1, PC2]\n'));
    await dialog.getByText('Create node PC2').waitFor();
    assert.equal(await dialog.locator('.lab-picture circle').count(), 2);
    await picture(page, 'lab-file');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await canvas(page).node('PC2').waitFor();
    await page.getByRole('heading', { name: 'pair' }).first().waitFor();
  });

  it('loads a second copy of a project as a copy', async () => {
    const made = await client.post<Project>('/v2/projects', { name: 'twice' });
    const folder = join(server.dataDir, 'twice');
    await cp(String(made.path), folder, { recursive: true });
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await page.getByRole('button', { name: 'Import' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Or a project file (.gns3)').fill(join(folder, 'twice.gns3'));
    await dialog.getByRole('button', { name: 'Import' }).click();
    await dialog.getByText(/This is a copy of the project "twice" in .*: open that one/).waitFor();
    await dialog.getByRole('button', { name: 'Load as a copy' }).click();
    await page.getByRole('heading', { name: 'twice-1' }).first().waitFor();
  });

  it('takes a lab file with the files that it names, and lets the user say which it is', async () => {
    const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await page.getByRole('button', { name: 'Lab file' }).click();
    const dialog = page.getByRole('dialog');
    const input = dialog.locator('input[type=file]');
    const lab = file('lab.yaml', 'include: [core.yaml]\nnodes:\n  EDGE: {kind: vpcs, config: {file: edge.vpc}}\n');
    await input.setInputFiles(lab);
    await dialog.getByText('the file core.yaml was not sent').waitFor();
    await input.setInputFiles([lab, file('core.yaml', 'nodes:\n  CORE: {kind: vpcs}\n'), file('edge.vpc', 'ip 10.0.0.1/24\n')]);
    await dialog.getByText('Create node EDGE').waitFor();
    await dialog.getByText('Create node CORE').waitFor();
    await dialog.getByText('2 more files').waitFor();
    await dialog.getByLabel('Which of them is the lab file').selectOption('core.yaml');
    await dialog.getByText('Create node EDGE').waitFor({ state: 'detached' });
    await dialog.getByText('Create node CORE').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  it('shows the failure of a lab file whose dialog was closed', async () => {
    const gate = Promise.withResolvers<void>();
    const refuse = async (route: Route) => {
      await gate.promise;
      await route.fulfill({ body: '{"failure": "No space left"}\n' });
    };
    await page.route('**/v2/labs/apply', refuse, { times: 1 });
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await page.getByRole('button', { name: 'Lab file' }).click();
    const dialog = page.getByRole('dialog');
    const buffer = Buffer.from('nodes:\n  PC1: {kind: vpcs}\n');
    await dialog.getByLabel('Lab file').setInputFiles({ name: 'lost.yaml', mimeType: 'text/yaml', buffer });
    await dialog.getByText('Create node PC1').waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    // Applying cannot be cancelled, so no button promises it.
    await dialog.getByRole('button', { name: 'Close and continue applying' }).click();
    gate.resolve();
    await page.getByText('No space left').waitFor();
    assert.equal(new URL(page.url()).pathname, '/');
  });

  it('violates no content security policy and causes no script error', () => assert.deepEqual(problems, []));
});
