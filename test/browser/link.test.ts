/** The work on a link: impaired while a ping shows it, suspended, captured, and its packets inspected. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Link } from '../../src/schema/link.ts';
import { openTab, picture } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, withServer } from '../support/with-server.ts';
import { consoleText, selectLink, type } from './page-parts.ts';

const { server, client } = await withServer();
const project = await createProject(client, { name: 'Two PCs', auto_close: false });
const pc = (name: string, number: number) =>
  createNode(client, project, 'vpcs', {
    name,
    x: number * 300 - 500,
    y: -60,
    properties: { startup_script: `ip 10.0.0.${number}/24\n` },
  });
const one = await pc('PC1', 1);
const other = await pc('PC2', 2);
const { link_id } = await client.post<Link>(`${project.path}/links`, { nodes: [end(one), end(other)] });
for (const { node_id } of [one, other]) await client.post(`${project.path}/nodes/${node_id}/start`, {}, 200);
const { page, problems } = await openTab(`${server.url}/projects/${project.id}`, { height: 900 });
const linkPath = `${project.path}/links/${link_id}`;
const filters = async () => (await client.get<Link>(linkPath)).filters as Record<string, unknown>;
const filtersAre = (wanted: object, what: string) => waitFor(async () => isDeepStrictEqual(await filters(), wanted), { what });
const impairments = page.getByRole('region', { name: 'Impairments' });
const graph = page.getByRole('region', { name: 'Live' });
const packets = page.getByRole('grid', { name: 'Packets' });
/** VPCS waits this long for a reply instead of a second: a busy machine may need it. */
const patiently = '-w 20000';

describe('a link in the browser', () => {
  it('is impaired from its panel, and the ping in the console shows it', async () => {
    await page.locator('.node[aria-label^="PC1"]').dblclick();
    await consoleText(page, /PC\d : 10\.0\.0\.1/);
    await selectLink(page);
    await impairments.getByLabel('Latency, each way').pressSequentially('120.5');
    await filtersAre({ delay: [120.5] }, 'the delay on the server');
    await page.locator('.xterm-screen').click();
    await type(page, `ping 10.0.0.2 -t ${patiently}`);
    // 120.5 ms in each direction, plus the delay of a busy machine.
    await consoleText(page, /seq=3 ttl=64 time=(2[4-9]\d|[3-9]\d\d|\d{4,})\.\d+ ms/);
  });

  it('runs a schedule that is written in its panel, and shows where it is', async () => {
    const schedule = page.getByRole('region', { name: 'Schedule' });
    await schedule.getByRole('button', { name: 'Add' }).click();
    // The form writes a schedule without JSON.
    await schedule.getByRole('button', { name: 'Remove step 3' }).click();
    const second = schedule.getByRole('group', { name: 'Step 2' });
    await second.getByLabel('Latency, each way').fill('75');
    await second.getByLabel('Link').selectOption('Down');
    await second.getByLabel('From').fill('3600');
    await schedule.getByLabel('After the last step').selectOption('It stays');
    await picture(page, 'schedule-form');
    await schedule.getByRole('button', { name: 'Run' }).click();
    await schedule.locator('.step').nth(1).waitFor({ state: 'attached' });
    const { steps } = await client.get<{ steps: object[] }>(`${linkPath}/schedule`);
    assert.deepEqual(steps, [
      { at: 0, filters: { delay: [20] } },
      { at: 3_600_000, filters: { delay: [75], packet_loss: [5] }, ramp: 5_000, suspend: true },
    ]);
    await schedule.getByRole('button', { name: 'Edit' }).click();
    await schedule.getByRole('button', { name: 'Text', exact: true }).click();
    const text = schedule.getByLabel('Steps and traces');
    await text.fill('null');
    await schedule.getByRole('button', { name: 'Run' }).click();
    await schedule.getByRole('alert').filter({ hasText: 'A schedule is an object with lists' }).waitFor();
    await text.fill('{"steps": [{"at": 0, "filters": {"latency": [5]}}]}');
    await schedule.getByRole('button', { name: 'Run' }).click();
    await schedule.getByRole('alert').filter({ hasText: 'latency cannot be scheduled' }).waitFor();
    await text.fill('{"steps": [{"at": 0, "filters": {"corrupt": [3]}}, {"at": 3600000, "suspend": true}]}');
    await schedule.getByRole('button', { name: 'Run' }).click();
    await schedule.locator('.chip', { hasText: 'corrupt 3' }).waitFor();
    assert.equal(await schedule.locator('.step').count(), 2);
    assert.equal((await client.get<{ steps: object[] }>(`${linkPath}/schedule`)).steps.length, 2);
    await schedule.getByRole('button', { name: 'Remove' }).click();
    await schedule.getByRole('button', { name: 'Add' }).waitFor();
    assert.equal((await client.send(`GET ${linkPath}/schedule`)).status, 404);
  });

  it('mirrors its frames to a free port that is chosen in its panel', async () => {
    const spy = await createNode(client, project, 'vpcs', { name: 'Spy', x: 400, y: 200 });
    await createNode(client, project, 'ethernet_hub', { name: 'Hub', x: 400, y: 300 });
    await selectLink(page);
    const mirror = page.getByLabel('Mirror', { exact: true }).and(page.locator('select'));
    await mirror.locator('option', { hasText: 'Spy Ethernet0' }).waitFor({ state: 'attached' });
    assert.deepEqual(await mirror.locator('option').allTextContents(), ['none', 'Spy Ethernet0']);
    await mirror.selectOption({ label: 'Spy Ethernet0' });
    const wanted = { node_id: spy.node_id, adapter_number: 0, port_number: 0 };
    await waitFor(async () => isDeepStrictEqual((await client.send(`GET ${linkPath}/mirror`)).json(), wanted), {
      what: 'the mirror',
    });
    await client.post(`${project.path}/nodes/${spy.node_id}/start`, {}, 200);
    await page.getByText(/^[1-9][0-9,]* frames sent/).waitFor();
    await mirror.selectOption('');
    await waitFor(async () => (await client.send(`GET ${linkPath}/mirror`)).status === 404, { what: 'no mirror' });
    await client.delete(`${project.path}/nodes/${spy.node_id}`);
  });

  it('draws the rate and the delay of its frames', async () => {
    await selectLink(page);
    await graph
      .locator('figure')
      .filter({ hasText: 'Delay' })
      .locator('figcaption')
      .filter({ hasText: /(1[2-9]\d|[2-9]\d\d|\d,\d+) ms/ })
      .waitFor();
    await graph.locator('path.way-ab[d*="L"]').first().waitFor({ state: 'attached' });
    await page.locator('.xterm-screen').click();
    await page.keyboard.press('Control+c');
    await type(page, 'echo enough');
    await consoleText(page, /> echo enough/);
    await selectLink(page);
  });

  it('shows the bounds of a value, and sends nothing beyond them', async () => {
    await impairments.getByLabel('Packet loss').fill('250');
    await impairments.getByRole('alert').filter({ hasText: '0 to 100 %' }).waitFor();
    await impairments.getByLabel('Packet loss').fill('0.05');
    await filtersAre({ delay: [120.5], packet_loss: [0.05] }, 'a loss with decimals');
  });

  it('is impaired in one direction only', async () => {
    await impairments.getByRole('tab', { name: 'PC2 → PC1' }).click();
    await impairments.getByLabel('Latency').fill('10');
    await filtersAre({ delay: [120.5], packet_loss: [0.05], delay_ba: [10] }, 'another delay back');
    await impairments.getByRole('button', { name: 'Swap directions' }).click();
    await filtersAre({ delay: [120.5], packet_loss: [0.05], delay_ab: [10] }, 'the delay for the other direction');
  });

  it('keeps the filter that another user sets in the same moment', async () => {
    const { page: others, close } = await openTab(page.url());
    await selectLink(others);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(`**${linkPath}`, async (route) => {
      await held;
      await route.continue();
    });
    const isSent = page.waitForRequest((request) => request.url().endsWith(linkPath) && request.method() !== 'GET');
    await impairments.getByRole('tab', { name: 'Both ways' }).click();
    await impairments.getByLabel('Latency').fill('30');
    await isSent;
    await others.getByRole('region', { name: 'Impairments' }).getByLabel('Packet loss').fill('2');
    await filtersAre({ delay: [120.5], packet_loss: [2], delay_ab: [10] }, 'the loss of the other user');
    release();
    await filtersAre({ delay: [30], packet_loss: [2], delay_ab: [10] }, 'both changes');
    await page.unroute(`**${linkPath}`);
    await close();
  });

  it('shows why the server refuses a filter', async () => {
    await impairments.getByRole('tab', { name: 'Both ways' }).click();
    await impairments.getByText('More impairments').click();
    await impairments.getByLabel('Berkeley Packet Filter').fill('no such expression (');
    await impairments
      .getByRole('alert')
      .filter({ hasText: /expression/ })
      .waitFor();
    await impairments.getByLabel('Berkeley Packet Filter').fill('');
    await impairments.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('becomes a typical line with one click, and is cleared with another', async () => {
    await impairments.getByRole('button', { name: /^Satellite/ }).click();
    await waitFor(async () => 'bandwidth_ba' in (await filters()), { what: 'the preset on the server' });
    await page.getByText('Impaired', { exact: true }).waitFor();
    assert.equal(await impairments.getByRole('button', { name: /^Satellite/ }).getAttribute('aria-pressed'), 'true');
    await page.locator('.inspector').evaluate((panel) => panel.scrollTo(0, 190));
    await picture(page, 'impairments');
    await impairments.getByRole('button', { name: 'Clear' }).click();
    await filtersAre({}, 'a link without filters');
  });

  it('is suspended with a key', async () => {
    await selectLink(page);
    await page.keyboard.press('Alt+u');
    await waitFor(async () => (await client.get<Link>(linkPath)).suspend, { what: 'the suspended link' });
    // The page updates first: the key acts on its state.
    await page.getByText('Suspended', { exact: true }).first().waitFor();
    await page.keyboard.press('Alt+u');
    await waitFor(async () => !(await client.get<Link>(linkPath)).suspend, { what: 'the resumed link' });
  });

  it('is captured, and its packets appear in the table as they arrive', async () => {
    await page.keyboard.press('w');
    await page.getByRole('dialog').getByRole('button', { name: 'Start capture' }).click();
    await packets.waitFor();
    await page.getByText('Live:').waitFor();
    await page.getByRole('tab', { name: 'PC1', exact: true }).click();
    await page.locator('.console:not([hidden]) .xterm-screen').click();
    await type(page, `ping 10.0.0.2 -c 4 -i 200 ${patiently}`);
    await consoleText(page, /icmp_seq=4 ttl=64 time=[\d.]+ ms\s*VPCS>/);
    await type(page, `ping 10.0.0.2 -2 -p 7 -c 1 ${patiently}`);
    await page.getByRole('tab', { name: 'PC1 – PC2' }).click();
    await packets.getByRole('row').filter({ hasText: 'Echo reply' }).nth(1).waitFor();
    await packets
      .getByRole('row')
      .filter({ hasText: /UDP.*→ 7/ })
      .first()
      .waitFor();
  });

  it('shows only packets that match the display filter', async () => {
    const field = page.getByRole('searchbox', { name: 'Display filter' });
    await field.fill('icmp');
    await page.getByText(/8 of \d+ packets/).waitFor();
    assert.equal(await packets.getByRole('row').filter({ hasText: 'UDP' }).count(), 0);
    await field.fill('port 7 host 10.0.0.2');
    await page.getByText(/2 of \d+ packets/).waitFor();
    await field.fill('');
  });

  it('shows a packet’s headers and bytes, and selects the next one with arrow keys', async () => {
    await packets.getByRole('row').filter({ hasText: 'Echo request' }).first().click();
    const detail = page.getByRole('region', { name: /^Packet \d+/ });
    await detail.getByText('8 (Echo request)').waitFor();
    await detail.locator('.hex .marked').first().waitFor();
    // Room for the table: the panels beside the canvas are closed.
    for (const key of ['a', 'd']) await page.keyboard.press(key);
    await picture(page, 'capture');
    await page.keyboard.press('d');
    const chosen = await detail.getAttribute('aria-label');
    await page.keyboard.press('ArrowDown');
    await waitFor(async () => (await detail.getAttribute('aria-label')) !== chosen, { what: 'the next packet' });
  });

  it('offers Wireshark and a file', async () => {
    const address = await page.getByRole('link', { name: 'Open in Wireshark' }).getAttribute('href');
    assert.match(
      address ?? '',
      new RegExp(`^gns3\\+pcap://127\\.0\\.0\\.1:\\d+\\?protocol=http&project_id=${project.id}&link_id=${link_id}`),
    );
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the shown packets as pcap' }).click();
    const file = await readFile(await (await downloading).path());
    assert.equal(file.readUInt32LE(0), 0xa1b2c3d4);
    assert.ok(file.length > 24 + 6 * 58, `${file.length} bytes`);
  });

  it('keeps its packets when the capture is stopped', async () => {
    await page.getByRole('button', { name: 'Stop capture' }).last().click();
    await page.getByText('Ended:').waitFor();
    await packets.getByRole('row').filter({ hasText: 'Echo reply' }).first().waitFor();
  });

  it('causes no error in the page', () => assert.deepEqual(problems, []));
});
