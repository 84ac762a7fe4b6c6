/** The lab as text beside the canvas: it follows the lab, selects both ways, shows its plan and its errors, and is applied. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas, selectLink, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Text', auto_close: false });
const one = await createNode(client, project, 'vpcs', { name: 'PC1', x: -150, y: 0 });
const other = await createNode(client, project, 'vpcs', { name: 'PC2', x: 150, y: 0 });
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
const nodesOf = () => client.get<Node[]>(`${project.path}/nodes`);
const nodeOf = async (name: string) => (await nodesOf()).find((node) => node.name === name) ?? assert.fail(`no ${name}`);
const labText = async () => (await client.send(`GET ${project.path}/lab.yaml`)).text();

const { page, problems } = await openTab(`${server.url}/projects/${project.id}`, { width: 1500 });
await canvas(page).node('PC1').waitFor();
const pane = page.getByRole('complementary', { name: 'The lab as text (YAML)' });
const editor = pane.getByRole('textbox');
const button = (name: string) => pane.getByRole('button', { name, exact: true });
const follows = pane.getByText('As the lab is now. It follows every change.');

/** The complete text of the editor, which draws only the lines in sight: by the clipboard's own way. */
async function shownText(): Promise<string> {
  await page.evaluate(
    "window.copied = undefined; addEventListener('copy', () => { window.copied = document.activeElement.value }, { once: true, capture: true })",
  );
  await button('Copy the text').click();
  return page.evaluate<string>('window.copied');
}

const showsText = (wanted: () => Promise<string>, what: string) =>
  waitFor(async () => (await shownText()) === (await wanted()), { what, everyMs: 200 });

/** Replaces text in the editor, by its search panel's way of a user: selects all and types. */
async function edit(change: (text: string) => string): Promise<void> {
  const text = change(await shownText());
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** Pastes a text over all of the editor's, as the keyboard does: typed text without measure would hold the browser itself. */
async function paste(text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press('Control+a');
  const event = `new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })`;
  await page.evaluate(
    `{ const data = new DataTransfer(); data.setData('text/plain', ${JSON.stringify(text)}); document.activeElement.dispatchEvent(${event}); }`,
  );
}

const ghost = (name: string) => page.locator(`[data-ghost="${name}"]`);

describe('the text of the lab', () => {
  it('opens by its command, and is the lab file of the server', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('yaml');
    await page.getByRole('option', { name: /The lab as text/ }).click();
    await follows.waitFor();
    await showsText(labText, 'the lab as text');
    assert.match(await shownText(), /^name: Text\n(?:.*\n)*nodes:\n {2}PC1:\n {4}kind: vpcs\n/);
    await picture(page, 'lab-text');
  });

  it('follows changes of others', async () => {
    await client.put(`${project.path}/nodes/${other.node_id}`, { x: 170 }, 200);
    await editor.getByText('x: 170').waitFor();
    await showsText(labText, 'the moved node in the text');
  });

  it('marks the lines of the selection of the canvas', async () => {
    await toCanvas(page);
    await canvas(page).node('PC2').click();
    await pane.locator('.marked-line', { hasText: 'PC2:' }).waitFor();
    assert.equal(await pane.locator('.marked-line', { hasText: 'PC1' }).count(), 0);
    await selectLink(page);
    await pane.locator('.marked-line', { hasText: 'PC1:Ethernet0' }).waitFor();
    assert.equal(await pane.locator('.marked-line', { hasText: 'kind' }).count(), 0);
  });

  it('selects the node or the link of the line with the cursor', async () => {
    await editor.getByText('x: -150').click();
    await page.locator('.node.selected[aria-label^="PC1"]').waitFor();
    await editor.getByText('PC1:Ethernet0').click();
    await page.locator('.link.selected').waitFor();
    assert.equal(await page.locator('.node.selected').count(), 0);
  });

  it('shows an error at its line, and keeps the lab', async () => {
    await edit((text) => text.replace('kind: vpcs', 'kind: vpc'));
    const alert = pane.getByRole('alert');
    await alert.getByText('vpc').waitFor();
    await pane.locator('.cm-lint-marker-error').waitFor();
    await pane.getByRole('button', { name: /^Line \d+$/ }).click();
    await pane.locator('.cm-activeLine', { hasText: 'kind: vpc' }).waitFor();
    assert.equal(await button('Apply').isDisabled(), true);
    await picture(page, 'lab-text-error');
    await button('Discard edits').click();
    await alert.waitFor({ state: 'detached' });
    await follows.waitFor();
  });

  it('shows what it would add, change and remove on the canvas, and changes nothing before Apply', async () => {
    const before = await labText();
    await edit((text) =>
      text
        .replace('  PC2:\n', '  PC3:\n    kind: vpcs\n    x: 0\n    y: 150\n  PC2:\n')
        .replace('x: -150', 'x: -250')
        .replace(/links:\n.*$/s, 'links:\n  - [PC3, PC2]\n'),
    );
    for (const name of ['create node PC3', 'update node PC1', 'create link PC3 PC2']) await ghost(name).waitFor();
    // A horizontal line has no height.
    await page.locator('[data-ghost^="delete link PC1:Ethernet0"]').waitFor({ state: 'attached' });
    assert.equal(await labText(), before);
    await picture(page, 'lab-text-ghosts');
  });

  it('keeps what is typed over a reload, and while others change the lab', async () => {
    const typed = await shownText();
    await page.reload();
    await ghost('create node PC3').waitFor();
    assert.equal(await shownText(), typed);
    await client.put(`${project.path}/nodes/${other.node_id}`, { y: 90 }, 200);
    await pane.getByText('The lab was changed since.').waitFor();
    assert.equal(await shownText(), typed);
    await button('Take the changes in').click();
    await pane.getByText('The lab was changed since.').waitFor({ state: 'detached' });
    assert.equal(await shownText(), typed.replace(/(PC2:\n(?: {4}.*\n)*? {4}y: )0/, '$190'));
  });

  it('is applied to the running lab as one step of undo', async () => {
    const before = await labText();
    await client.post(`${project.path}/nodes/${one.node_id}/start`, {}, 200);
    await ghost('create node PC3').waitFor();
    await button('Apply').click();
    await follows.waitFor();
    await ghost('create node PC3').waitFor({ state: 'detached' });
    assert.deepEqual((await nodesOf()).map(({ name }) => name).sort(), ['PC1', 'PC2', 'PC3']);
    assert.deepEqual([(await nodeOf('PC1')).status, (await nodeOf('PC1')).x], ['started', -250]);
    await showsText(labText, 'the text of the changed lab');
    await toCanvas(page);
    await page.keyboard.press('Control+z');
    await waitFor(async () => (await labText()) === before, { what: 'the lab before', everyMs: 100 });
    assert.deepEqual(
      (await client.get<Link[]>(`${project.path}/links`)).map((link) => link.link_id),
      [link_id],
    );
    await showsText(labText, 'the text of the lab before');
  });

  it('keeps comments that a lab does not hold', async () => {
    await edit((text) => text.replace('  PC2:\n', '  # the far end\n  PC2:\n').replace('x: 170', 'x: 180'));
    await ghost('update node PC2').waitFor();
    await editor.press('Control+Enter');
    await pane.getByText('The lab is as the text says.', { exact: false }).first().waitFor();
    await waitFor(async () => (await nodeOf('PC2')).x === 180, { what: 'the moved node', everyMs: 50 });
    assert.match(await shownText(), /# the far end/);
    await button('Discard edits').click();
    await follows.waitFor();
  });

  it('completes keys and values from the schema', async () => {
    const options = page.getByRole('listbox').getByRole('option');
    await editor.getByText('x: 180').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('lo');
    await options.filter({ hasText: /^locked/ }).click();
    await editor.getByText('locked:').waitFor();
    await page.keyboard.type('tr');
    await options.filter({ hasText: /^true/ }).click();
    await ghost('update node PC2').waitFor();
    assert.match(await shownText(), /^ {4}locked: true$/m);
    await button('Discard edits').click();
    await follows.waitFor();
  });

  it('downloads the text', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), button('Download the text').click()]);
    assert.equal(download.suggestedFilename(), 'Text.yaml');
    assert.equal(await readFile(await download.path(), 'utf8'), await labText());
  });

  it('answers texts without measure by an error, and takes the next one', async () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x, x]',
      ...[...'bcdefg'].map((name, at) => `${name}: &${name} [${`*${'abcdef'[at]}, `.repeat(10)}]`),
    ];
    const texts = [
      ['['.repeat(20_000), /nested too deep/],
      [bomb.join('\n'), /more than 200000 values|more than 1000 aliases/],
      [`# ${'x'.repeat(100)}\n`.repeat(11_000), /limit of \d+ bytes|more than 1048576 characters/],
      ['nodes: [', /lab|Correct the YAML/],
    ] as const;
    for (const [text, says] of texts) {
      await paste(text);
      await pane.getByRole('alert').getByText(says).waitFor();
    }
    await button('Discard edits').click();
    await follows.waitFor();
    await showsText(labText, 'the text of the lab');
  });

  it('reports no problem of the page', () => assert.deepEqual(problems, []));
});
