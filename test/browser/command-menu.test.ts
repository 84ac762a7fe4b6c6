/** The command menu: what users call things, every command of the page, and the reason where one does not apply. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Link } from '../../src/schema/link.ts';
import type { NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { openTab } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, withServer } from '../support/with-server.ts';
import { canvas } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Lab', auto_close: false });
const [one, other] = [
  await createNode(client, project, 'vpcs', { name: 'PC1', x: -100, y: 0, properties: { startup_script: 'ip 10.0.0.1/24' } }),
  await createNode(client, project, 'vpcs', { name: 'PC2', x: 100, y: 0, properties: { startup_script: 'ip 10.0.0.2/24' } }),
];
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
const link = () => client.get<Link>(`${project.path}/links/${link_id}`);
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

describe('commands with arguments', () => {
  /** Types a command, and runs what the menu offers first. */
  const say = async (text: string, label: string) => {
    await page.keyboard.press('Control+K');
    await waitFor(async () => (await find(text))[0] === label, { what: `${label} for ${text}` });
    await field.press('Enter');
  };
  const isFiltered = (filters: object) =>
    waitFor(async () => isDeepStrictEqual((await link()).filters, filters), { what: JSON.stringify(filters) });

  it('impair the link that they name by its nodes, and change one filter each', async () => {
    await say('delay 100 pc2-pc1', 'Delay 100 ms each way on PC1 – PC2');
    await isFiltered({ delay: [100] });
    await say('loss 0.5% PC1', 'Loss 0.5 % on PC1 – PC2');
    await isFiltered({ packet_loss: [0.5], delay: [100] });
    await say('bandwidth 10M', 'Bandwidth 10 Mbit/s each way on PC1 – PC2');
    await say('delay 0 PC1-PC2', 'No delay on PC1 – PC2');
    await isFiltered({ packet_loss: [0.5], bandwidth: [10_000] });
    await say('clear PC1-PC2', 'No impairments on PC1 – PC2');
    await isFiltered({});
  });

  it('say what is missing', async () => {
    await page.keyboard.press('Control+K');
    for (const [text, hint] of [
      ['delay PC1-PC2', /Say how much, for example: delay 10/],
      ['delay 100 R7', /Nothing here is called “R7”/],
      ['ping PC1 PC2', /PC1 does not run/],
    ] as const) {
      await field.fill(text);
      const option = menu.getByRole('option').first();
      assert.match(await option.innerText(), hint);
      assert.equal(await option.getAttribute('aria-disabled'), 'true');
    }
    await field.press('Escape');
  });

  it('copy a node or the frames of its link, by whether there is a number', async () => {
    await page.keyboard.press('Control+K');
    await waitFor(async () => (await find('duplicate PC1'))[0] === 'Duplicate PC1', { what: 'the copy' });
    assert.equal((await find('duplicate 5 PC1'))[0], 'Duplication 5 % on PC1 – PC2');
    await field.press('Escape');
  });

  it('start several nodes, ping between them and capture', async () => {
    await say('boot PC1, PC2', 'Start PC1, PC2');
    // A PC that has begun to run has no address until its start-up script is done.
    const hasAddress = async ({ node_id }: NodeBody) => {
      const { json } = await client.send(`POST ${project.path}/nodes/${node_id}/probe`, { body: { type: 'addresses' } });
      return json<NodeProbeAnswer>().addresses?.some((address) => address.startsWith('10.')) ?? false;
    };
    for (const node of [one, other]) await waitFor(() => hasAddress(node), { what: `an address of ${node.name}` });
    await say('ping PC1 PC2', 'Ping PC2 from PC1');
    await page.getByText(/PC1 → PC2 \(10\.0\.0\.2\): [1-3] of 3 answered, [\d.]+ ms on average/).waitFor();
    await say('ping PC1 10.9.9.9', 'Ping 10.9.9.9 from PC1');
    await page.getByText('PC1 → 10.9.9.9: it has no gateway for this address').waitFor();
    await say('sniff pc2', 'Capture PC1 – PC2');
    await waitFor(async () => (await link()).capturing, { what: 'the capture' });
  });

  it('take snapshots by name and return to them', async () => {
    await say('snapshot before ospf', 'Take the snapshot “before ospf”');
    await page.getByText('“before ospf” was saved.').waitFor();
    assert.deepEqual(
      (await client.get<Snapshot[]>(`${project.path}/snapshots`)).map(({ name }) => name),
      ['before ospf'],
    );
    await say('restore before', 'Restore “before ospf”');
    await page.getByRole('dialog', { name: 'Restore “before ospf”?' }).getByRole('button', { name: 'Cancel' }).click();
  });

  it('come first the next time', async () => {
    await page.keyboard.press('Control+K');
    await waitFor(async () => (await find(''))[0] === 'Restore “before ospf”', { what: 'the last command' });
    assert.deepEqual((await find('')).slice(1, 3), ['Take the snapshot “before ospf”', 'Capture PC1 – PC2']);
    await field.press('Escape');
    assert.deepEqual(problems, []);
  });
});
