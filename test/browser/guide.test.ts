/** Guided labs: the notes beside the canvas type at consoles, and show what they name. Nothing of them runs without a press. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Link } from '../../src/schema/link.ts';
import { openTab, picture } from '../support/browser.ts';
import { expectStatus } from '../support/raw-http.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas, consoleText, toCanvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Guide', auto_close: false });
const one = await createNode(client, project, 'vpcs', { name: 'PC1', x: -150, y: 0 });
const other = await createNode(client, project, 'vpcs', { name: 'PC-2', x: 4000, y: 3000 });
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
const write = async (text: string) =>
  expectStatus(await client.send(`POST ${project.path}/files/README.txt`, { raw: Buffer.from(text) }), 201);
await write(`# A guide

Look at \`PC-2\`, at \`PC1-PC-2\`, at [the first \`PC1\`](#PC1) and at \`nothing\`.

\`\`\`console PC1
ip 10.0.0.1/24
show ip
\`\`\`
`);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
await canvas(page).node('PC1').waitFor();
const pane = page.getByRole('complementary', { name: 'Notes' });
const button = (name: string) => pane.getByRole('button', { name, exact: true });

/** Closes the notes and opens them, which reads them again. */
async function reopen(): Promise<void> {
  await button('Close the notes').click();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('notes');
  await page.getByRole('option', { name: /^Notes/ }).click();
}

describe('notes beside the canvas', () => {
  it('open by their command, leave the canvas to the user, and stay open over a reload', async () => {
    await page.getByRole('button', { name: 'Notes', exact: true }).click();
    await pane.getByRole('heading', { name: 'A guide' }).waitFor();
    assert.equal(await page.locator('dialog').count(), 0);
    await toCanvas(page);
    await canvas(page).node('PC1').click();
    await page.reload();
    await pane.getByRole('heading', { name: 'A guide' }).waitFor();
  });

  it('show the nodes and links that they name', async () => {
    const selected = (id: string) => page.locator(`[data-id="${id}"].selected`);
    await button('Show PC-2').click();
    await selected(other.node_id).waitFor();
    const box = (await canvas(page).node('PC-2').boundingBox()) ?? assert.fail('PC-2 is not drawn');
    const area = (await page.locator('svg.canvas').boundingBox()) ?? assert.fail('no canvas');
    assert.ok(box.x > area.x && box.x + box.width < area.x + area.width, 'PC-2 is beside the view');
    await button('Show PC1-PC-2').click();
    await selected(link_id).waitFor();
    assert.equal(await pane.getByRole('button', { name: 'Show nothing' }).count(), 0);
    await button('the first PC1').click();
    await selected(one.node_id).waitFor();
  });

  it('say that a node is stopped, start it, and type their lines at its console', async () => {
    await pane.getByText('PC1 is not running.').waitFor();
    assert.equal(await pane.getByRole('button', { name: 'Run in PC1' }).count(), 0);
    await button('Start PC1').click();
    await button('Run in PC1').click();
    await consoleText(page, /show ip[\s\S]*IP\/MASK\s*: 10\.0\.0\.1\/24/);
    // The next button of the guide is one key away.
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Run in PC1');
    await picture(page, 'guide');
  });

  it('are a sheet on a phone, below the canvas and the console that answers', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await button('Run in PC1').click();
    const boxes = [page.locator('.canvas-area'), page.locator('.consoles'), pane].map((part) => part.boundingBox());
    const [above, middle, below] = await Promise.all(boxes);
    assert.ok(above && middle && below);
    assert.ok(above.height > 100 && above.y + above.height <= middle.y + 6, 'the console covers the canvas');
    assert.ok(middle.height > 100 && middle.y + middle.height <= below.y + 1, 'the notes cover the console');
    await picture(page, 'guide-phone-light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'guide-phone-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.reload();
    await pane.getByRole('heading', { name: 'A guide' }).waitFor();
  });
});

describe('notes of a foreign project', () => {
  it('offer to type only lines of a running node that are shown as they are', async () => {
    const blocks = [
      ['console PC1', 'ping 10.0.0.1\u202e # 1.0.0.01 gnip'],
      ['console PC1', 'echo one\u200btwo'],
      ['console PC1', 'bell \u0007'],
      ['console PC1', 'nbsp\u00a0space'],
      ['console PC1', Array.from({ length: 100 }, () => 'show ip').join('\n')],
      ['console PC1', 'x'.repeat(5000)],
      ['console', 'no node'],
      ['console ABSENT', 'not of this lab'],
      ['console <b>PC1</b>', 'markup'],
      ['PC1', 'another language'],
    ];
    await write(blocks.map(([info, text]) => `\`\`\`${info}\n${text}\n\`\`\`\n`).join('\n'));
    await reopen();
    await pane.getByText('another language').waitFor();
    assert.equal(await pane.getByRole('button', { name: /^(Run|Start)/ }).count(), 0);
    for (const shown of ['ping 10.0.0.1\\u{202e} # 1.0.0.01 gnip', 'echo one\\u{200b}two', 'bell \\u{7}', 'nbsp\\u{a0}space'])
      await pane.getByText(shown, { exact: true }).waitFor();
    await pane.getByText('These lines are not offered: they have hidden characters.').first().waitFor();
    await pane.getByText('These lines are not offered: they are more than 30, or longer than 2000 characters.').first().waitFor();
    await pane.getByText('This lab has no node ABSENT.').waitFor();
  });

  it('stay responsive with thousands of names and blocks', async () => {
    await write(`${'`PC1` '.repeat(3000)}\n\n${'-'.repeat(2000)}\n\n\`${'PC1-'.repeat(2000)}\``);
    await reopen();
    await button('Show PC1').nth(2999).waitFor();
    await write('```console PC1\nx\n```\n'.repeat(1200));
    await reopen();
    await button('Run in PC1').nth(1199).waitFor();
    await button('Close the notes').click();
    assert.deepEqual(problems, []);
  });
});
