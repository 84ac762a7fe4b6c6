/** Links of virtual machines where TAP interfaces cannot be made, or are lost: the next best path carries them, and nothing stays on the host. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { runTool } from '../../src/process/tool.ts';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { noContainerEnds } from '../support/container-end.ts';
import { RawClient } from '../support/raw-http.ts';
import { type RunningServer, type ServerOptions, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { createNode, createProject, end, idleVm, type NodeBody, type ProjectHandle } from '../support/with-server.ts';

const limitMs = 300_000;
const toolLimitMs = 10_000;
const skip = (await noContainerEnds()) ?? false;
const hostInterfaces = () => readdirSync('/sys/class/net').filter((name) => /^pb[vtws]/.test(name));

interface Site {
  readonly server: RunningServer;
  readonly client: RawClient;
  readonly project: ProjectHandle;
}

async function withSite(options: ServerOptions, use: (site: Site) => Promise<void>): Promise<void> {
  await using made = new AsyncDisposableStack();
  const before = hostInterfaces();
  const server = await startServer({ config: { Qemu: { acceleration: 'off' } }, ...options });
  made.defer(() => server.stop());
  const client = new RawClient(server.url);
  made.defer(async () => void (await client.close()));
  await use({ server, client, project: await createProject(client, { auto_close: false }) });
  await made.disposeAsync();
  // Those of other tests go, too.
  const left = hostInterfaces().filter((name) => !before.includes(name));
  const isGone = () => !hostInterfaces().some((name) => left.includes(name));
  await waitFor(isGone, { what: `the end of ${left}`, limitMs: 120_000 });
}

async function startPair({ client, project }: Site): Promise<{ readonly nodes: readonly NodeBody[]; readonly link: string }> {
  const nodes = [await createNode(client, project, 'qemu', { name: 'VM1', properties: idleVm })];
  nodes.push(await createNode(client, project, 'qemu', { name: 'VM2', properties: idleVm }));
  const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: nodes.map((node) => end(node)) });
  await client.post(`${project.path}/nodes/start`, {}, 204);
  return { nodes, link: `${project.path}/links/${link_id}` };
}

const lineOf = async ({ client, project }: Site, { node_id }: NodeBody) =>
  (await client.get<{ command_line: string }>(`${project.path}/nodes/${node_id}`)).command_line;

const carriedBy = ({ client }: Site, link: string, carrier: string) =>
  waitFor(async () => (await client.get<LinkStats>(`${link}/stats`)).carrier === carrier, {
    what: `the carrier ${carrier}`,
    limitMs,
  });

async function assertStreams(site: Site, reason: RegExp): Promise<void> {
  const { nodes, link } = await startPair(site);
  for (const node of nodes) assert.match(await lineOf(site, node), /-netdev stream,/);
  await carriedBy(site, link, 'fabric');
  assert.match(site.server.log(), reason);
}

test('without /dev/net/tun machines have streams, and the log says what would help', { skip, timeout: limitMs }, () =>
  withSite({ launcher: ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /dev/net && exec "$@"', 'sh'] }, (site) =>
    assertStreams(site, /slower: .*\/dev\/net\/tun/),
  ),
);

test('interfaces that the kernel refuses leave the machine on streams', { skip, timeout: limitMs }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'refusing-ip-'));
  context.after(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const script = `#!/bin/sh\nsed -u 's/^tuntap add /tuntap refused /' | exec ${await findProgram('ip')} "$@"\n`;
  await writeFile(join(folder, 'ip'), script, { mode: 0o755 });
  await withSite({ env: { PATH: `${folder}:${process.env.PATH}` } }, (site) => assertStreams(site, /adapters of VM1 are slow: /));
});

test(
  'an interface that was deleted by hand is there again after the next start, and eight pairs start at once',
  {
    skip,
    timeout: limitMs,
  },
  () =>
    withSite({}, async (site) => {
      const { client, project, server } = site;
      const { nodes, link } = await startPair(site);
      await carriedBy(site, link, 'kernel');
      const [one] = nodes as [NodeBody];
      const name = /ifname=(pbv\w+)/.exec(await lineOf(site, one))?.[1] ?? '';
      const { pid } = JSON.parse(await readFile(join(server.runtimeDirectory, 'link-namespace.json'), 'utf8')) as { pid: number };
      const inside = (...command: string[]) =>
        runTool('nsenter', [`--net=/proc/${pid}/ns/net`, ...command], { timeoutMs: toolLimitMs });
      assert.equal((await inside('ip', 'link', 'delete', 'dev', name)).code, 0);
      const path = `${project.path}/nodes/${one.node_id}`;
      assert.equal((await client.get<NodeBody & { status: string }>(path)).status, 'started');
      await client.post(`${path}/stop`, {}, 200);
      await client.post(`${path}/start`, {}, 200);
      await carriedBy(site, link, 'kernel');

      const pairs = 8;
      const more: NodeBody[] = [];
      for (let index = 0; index < 2 * pairs; index += 1)
        more.push(await createNode(client, project, 'qemu', { name: `N${index}`, properties: idleVm }));
      const links: string[] = [];
      for (let index = 0; index < pairs; index += 1) {
        const ends = more.slice(2 * index, 2 * index + 2).map((node) => end(node));
        const { link_id } = await client.post<{ link_id: string }>(`${project.path}/links`, { nodes: ends });
        links.push(`${project.path}/links/${link_id}`);
      }
      await client.post(`${project.path}/nodes/start`, {}, 204);
      for (const each of links) await carriedBy(site, each, 'kernel');
      await client.post(`${project.path}/nodes/stop`, {}, 204);
      const left = readdirSync(`/proc/${pid}/root/sys/class/net`).filter((each) => /^pb[vtw]/.test(each));
      assert.deepEqual(left, []);
    }),
);
