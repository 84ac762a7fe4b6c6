/** The command menu: what users call things, every command of the page, and the reason where one does not apply. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTab } from '../support/browser.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
const [one, other] = [
  await createNode(client, project, 'vpcs', { name: 'PC1', x: -100, y: 0 }),
  await createNode(client, project, 'vpcs', { name: 'PC2', x: 100, y: 0 }),
];
await client.post(`${project.path}/links`, { nodes: [end(one), end(other)] });
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`);
await canvas(page).node('PC1').waitFor();

const menu = page.getByRole('dialog', { name: 'Find anything' });
const field = menu.getByRole('combobox');
/** Labels that the menu shows for a text. */
async function find(text: string): Promise<string[]> {
  await field.fill(text);
  return menu.getByRole('option').locator('span').allInnerTexts();
}

/** Words for what the page does, and a command that does it. */
const calls: readonly (readonly [words: string, label: string])[] = [
  ['boot', 'Start'],
  ['run', 'Start all'],
  ['power off', 'Stop'],
  ['shutdown', 'Stop'],
  ['halt', 'Stop all'],
  ['pause', 'Suspend'],
  ['reboot', 'Reload'],
  ['restart', 'Reload'],
  ['terminal', 'Console'],
  ['telnet', 'Console'],
  ['shell', 'Console'],
  ['vnc', 'Console'],
  ['cable', 'Add a link'],
  ['connect', 'Add a link'],
  ['wireshark', 'Capture'],
  ['pcap', 'Capture'],
  ['sniff', 'Capture'],
  ['tcpdump', 'Capture'],
  ['delay', 'Delay, loss and other impairments'],
  ['latency', 'Delay, loss and other impairments'],
  ['jitter', 'Delay, loss and other impairments'],
  ['loss', 'Delay, loss and other impairments'],
  ['packet loss', 'Delay, loss and other impairments'],
  ['filter', 'Delay, loss and other impairments'],
  ['schedule', 'Delay, loss and other impairments'],
  ['mirror', 'Delay, loss and other impairments'],
  ['disconnect', 'Suspend'],
  ['freeze', 'Snapshots'],
  ['rewind', 'Snapshots'],
  ['fork', 'Snapshots'],
  ['checkpoint', 'Snapshots'],
  ['backup', 'Snapshots'],
  ['restore', 'Snapshots'],
  ['history', 'Activity'],
  ['log', 'Activity'],
  ['remove', 'Delete'],
  ['clone', 'Duplicate'],
  ['revert', 'Undo'],
  ['note', 'Notes'],
  ['readme', 'Notes'],
  ['text', 'Add text'],
  ['box', 'Draw a rectangle'],
  ['circle', 'Draw an ellipse'],
  ['devices', 'Add nodes'],
  ['screenshot', 'Save the canvas as PNG'],
  ['picture', 'Save the canvas as SVG'],
  ['download', 'Export'],
  ['zip', 'Export'],
  ['yaml', 'Export'],
  ['upload', 'Import a project'],
  ['new lab', 'New project'],
  ['tutorial', 'Sample labs'],
  ['containerlab', 'Lab file'],
  ['install', 'Appliances'],
  ['iso', 'Images'],
  ['cpu', 'Server'],
  ['doctor', 'Server'],
  ['dark', 'Light or dark'],
  ['shortcuts', 'Keys and help'],
  ['preferences', 'Project settings'],
  ['url', 'Share this view'],
];

describe('the command menu', () => {
  it('finds what users call things, without a selection', async () => {
    await page.keyboard.press('Control+K');
    await field.waitFor();
    const missing: string[] = [];
    for (const [words, label] of calls) {
      const found = await find(words);
      if (!found.includes(label)) missing.push(`${words}: ${found.join(', ')} without ${label}`);
    }
    assert.deepEqual(missing, []);
  });

  it('says why a command does not apply, and does not run it', async () => {
    await find('latency');
    const option = menu.getByRole('option', { name: 'Delay, loss and other impairments' });
    assert.match(await option.innerText(), /Select a link first/);
    assert.equal(await option.getAttribute('aria-disabled'), 'true');
    await field.press('Enter');
    assert.equal(await menu.isVisible(), true);
    await field.press('Escape');
  });

  it('opens the impairments of the selected link', async () => {
    await page.keyboard.press('Control+K');
    await find('PC1 PC2');
    await field.press('Enter');
    await page.keyboard.press('Control+K');
    await find('latency');
    await field.press('Enter');
    await page.locator('.inspector').getByText('More impairments').waitFor();
  });

  it('has each command of the list of keys', async () => {
    await page.keyboard.press('?');
    const help = page.getByRole('dialog').last();
    const labels = await help.locator('section:not(:last-child) dt').allInnerTexts();
    assert.ok(labels.length > 40, `${labels.length} commands`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+K');
    const missing: string[] = [];
    for (const label of labels) if (!(await find(label)).includes(label)) missing.push(label);
    // The menu itself, and what the browser's own keys do.
    assert.deepEqual(missing.sort(), ['Copy', 'Find anything', 'Paste']);
    await page.keyboard.press('Escape');
    assert.deepEqual(problems, []);
  });
});
