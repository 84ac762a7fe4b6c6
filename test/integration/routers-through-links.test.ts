/**
 * Routers between a container and a virtual machine: the container's pings cross a link, the router (it bridges two of its ports) and another
 * link. Each link is captured before and after its filters, so that a delay shows in the times of every single frame. The routers are the
 * stand-ins of the tests; the machine (iPXE in QEMU) and the container are real.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { hostPlatform } from '../../src/emulators/qemu/platforms.ts';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { buildStandIn, compilerObstacle, iosHead } from '../support/dynamips/programs.ts';
import { readStandIn, skipIou, validLicense } from '../support/iou/build.ts';
import { atPrompt, type } from '../support/ipxe.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { isPing, type PcapFrame, parsePcap } from '../support/pcap.ts';
import { command, openTelnet, skipHistory } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, type NodeBody, type ProjectHandle, tinyVm, withServer } from '../support/with-server.ts';

const compiler = await compilerObstacle();
const skip =
  skipIou || (compiler ?? (await noEngine()) ?? (await missingPrograms([`qemu-system-${hostPlatform()}`, 'qemu-system'])) ?? false);
const engine = skip === false ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
const program = compiler === undefined ? await buildStandIn() : '/nowhere/dynamips';
const { server, client } = await withServer({
  config: { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' }, Dynamips: { dynamips_path: program } },
});

const delayMs = 40;
/** Time stamps have microseconds. */
const roundingMs = 0.01;

describe('a router between a container and a machine', { skip }, () => {
  let project: ProjectHandle;
  let container: NodeBody;
  let machine: NodeBody;
  const pathOf = ({ node_id }: NodeBody) => `${project.path}/nodes/${node_id}`;
  const start = async (node: NodeBody) => {
    await client.post(`${pathOf(node)}/start`, {}, 200);
    return client.get<NodeBody>(pathOf(node));
  };

  before(async () => {
    for (const [folder, name, content] of [
      ['IOU', 'l3.bin', await readStandIn()],
      ['IOS', 'ios.bin', iosHead],
    ] as const) {
      await mkdir(join(server.dataDir, 'images', folder), { recursive: true });
      await writeFile(join(server.dataDir, 'images', folder, name), content, { mode: 0o755 });
    }
    await client.put('/v2/iou_license', { iourc_content: validLicense() }, 201);
    project = await createProject(client);
    const made = { properties: { image: 'pb-test' }, console_type: 'telnet' };
    container = await start(await createNode(client, project, 'docker', made));
    machine = await start(await createNode(client, project, 'qemu', { properties: { ...tinyVm, ram: 32 } }));
    const guest = await atPrompt(machine);
    for (const line of ['ifopen net0', 'set net0/ip 10.0.0.2', 'set net0/netmask 255.255.255.0', 'show net0/ip'])
      await type(guest, line);
    await guest.expect(/= 10\.0\.0\.2\r/);
    guest.close();
    const shell = await openTelnet(container.console as number);
    await command(shell, 'ip addr add 10.0.0.1/24 dev eth0; echo do""ne', /done/);
    shell.close();
  });

  test('IOU: frames through a delayed link reach the machine, and through another one the container', async () => {
    const adapters = { ethernet_adapters: 1, serial_adapters: 0 };
    const router = await createNode(client, project, 'iou', { properties: { path: 'l3.bin', ...adapters } });
    await start(router);
    await assertDelays([end(container), end(router, 0, 1)], [end(router, 0, 3), end(machine)]);
    await client.delete(pathOf(router));
  });

  test('Dynamips: frames through a delayed link reach the machine, and through another one the container', async () => {
    const properties = { platform: 'c3725', image: 'ios.bin', ram: 128, slot1: 'NM-1FE-TX' };
    const router = await start(await createNode(client, project, 'dynamips', { properties }));
    const console = await openTelnet(router.console as number);
    await skipHistory(console);
    await command(console, 'bridge 0/0 1/0', /#$/);
    console.close();
    await assertDelays([end(container), end(router)], [end(router, 1), end(machine)]);
    await client.delete(pathOf(router));
  });

  test('serial links of both kinds carry frames, and their captures name the layer', async () => {
    const made = await Promise.all([
      createNode(client, project, 'dynamips', { properties: { platform: 'c3725', image: 'ios.bin', ram: 128, slot1: 'NM-4T' } }),
      createNode(client, project, 'iou', { properties: { path: 'l3.bin', ethernet_adapters: 1, serial_adapters: 1 } }),
    ]);
    const [router, other] = [await start(made[0]), await start(made[1])];
    // A frame leaves by one link and comes back by the other: the IOU bridges its serial ports.
    const layers = ['DLT_C_HDLC', 'DLT_PPP_SERIAL'] as const;
    const captures = await Promise.all(
      layers.map(async (data_link_type, port) => {
        const nodes = [end(router, 1, port), end(other, 1, port)];
        const { link_id, link_type } = await client.post<{ link_id: string; link_type: string }>(`${project.path}/links`, {
          nodes,
        });
        assert.equal(link_type, 'serial');
        const started = { data_link_type, capture_file_name: `serial-${port}.pcap` };
        return client.post<{ capture_file_path: string }>(`${project.path}/links/${link_id}/start_capture`, started);
      }),
    );
    const console = await openTelnet(router.console as number);
    await skipHistory(console);
    // Cisco HDLC: unicast, IPv4; what follows is any datagram.
    const frame = '0f000800450000140000000040010000c0a80001c0a80002';
    await waitFor(
      async () => {
        await command(console, `send 1/0 ${frame}`, /sent 24 bytes/);
        const [shown] = await command(console, 'received 1/1', /(\d+) frames, last (\w*)/);
        return shown.includes(frame);
      },
      { what: 'the frame that comes back', everyMs: 200 },
    );
    console.close();
    const [hdlc, ppp] = await Promise.all(
      captures.map(({ capture_file_path }) =>
        waitFor(
          async () => {
            const file = parsePcap(await readFile(capture_file_path));
            return file.frames.some(({ data }) => data.toString('hex') === frame) && file;
          },
          { what: 'the frame in the capture' },
        ),
      ),
    );
    assert.deepEqual([hdlc?.linkType, ppp?.linkType], [104, 50]);
    for (const node of [router, other]) await client.delete(pathOf(node));
  });

  /** Each link alone is delayed, then none. */
  async function assertDelays(near: object[], far: object[]): Promise<void> {
    const links = await Promise.all([near, far].map(async (nodes) => linkOf(nodes)));
    for (const delayed of links) {
      for (const link of links) await link.setDelay(link === delayed ? delayMs : 0);
      await ping();
      for (const [id, times] of await delayed.times(`delayed-${links.indexOf(delayed)}`))
        assert.ok(Math.min(...times) >= delayMs - roundingMs, `${id} took ${times.join()} ms through a delay of ${delayMs} ms`);
      for (const other of links) if (other !== delayed) await other.times(`beside-${links.indexOf(other)}`);
    }
    for (const link of links) await link.setDelay(0);
    // A frame may be late on a busy host, but not every one.
    await waitFor(
      async () => {
        await ping();
        const found = await Promise.all(links.map((link, index) => link.times(`plain-${index}`)));
        return found.every((frames) => [...frames.values()].flat().some((ms) => ms < delayMs));
      },
      { what: `frames that take less than ${delayMs} ms through links without a delay` },
    );
  }

  /** The container asks, the machine answers. */
  async function ping(): Promise<void> {
    const shell = await openTelnet(container.console as number);
    await waitFor(
      async () => {
        shell.send('ping -c 3 -W 5 10.0.0.2; echo en""d\r');
        return / 0% packet loss[\s\S]*end/.test((await shell.expect(/packet loss[\s\S]*end/)).input);
      },
      { what: 'answers of the machine' },
    );
    shell.close();
  }

  async function linkOf(nodes: object[]) {
    const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes });
    const path = `${project.path}/links/${link_id}`;
    const capture = (side: string, name: string) =>
      client.post<{ capture_id: string; capture_file_path: string }>(`${path}/captures`, {
        side,
        capture_file_name: `${link_id}-${name}-${side}.pcap`,
      });
    let name = 0;
    const begin = () => {
      name += 1;
      return Promise.all(['before', 'after'].map((side) => capture(side, String(name))));
    };
    let captures = await begin();
    return {
      /** Captures begin anew. */
      async setDelay(ms: number): Promise<void> {
        for (const { capture_id } of captures) await client.delete(`${path}/captures/${capture_id}`);
        await client.put(path, { filters: ms === 0 ? {} : { delay: [ms, 0] } }, 201);
        captures = await begin();
      },
      /** Times that each frame took through the link, ms; both directions have some. */
      async times(what: string): Promise<Map<string, number[]>> {
        return waitFor(
          async () => {
            const [before, after] = await Promise.all(
              captures.map(async ({ capture_file_path }) => pings(parsePcap(await readFile(capture_file_path)).frames)),
            );
            const found = new Map<string, number[]>();
            for (const [id, times] of before as Map<string, number[]>)
              for (const [index, sent] of (after?.get(id) ?? []).entries())
                found.set(id, [...(found.get(id) ?? []), ((sent - (times[index] ?? Number.NaN)) * 1e6) / 1e3]);
            const ways = [...found.keys()].map((id) => id.slice(0, 2));
            return ways.includes('8:') && ways.includes('0:') ? found : undefined;
          },
          { what: `frames in the captures: ${what}` },
        );
      },
    };
  }
});

/** Times at which each ICMP message was captured, seconds, by its type and its identifier and sequence number. */
function pings(frames: readonly PcapFrame[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { data, time } of frames.filter(isPing)) {
    const id = `${data[34]}:${data.toString('hex', 38, 42)}`;
    found.set(id, [...(found.get(id) ?? []), time]);
  }
  return found;
}
