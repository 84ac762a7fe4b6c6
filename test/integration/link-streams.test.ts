/**
 * A link from a PC of one server to a machine of another, over TCP: through walls that let only one protocol pass, after kills of all
 * that can be killed, and with a server on which streams are switched off. The stream recovers without a request.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { LinkStats } from '../../src/schema/link-stats.ts';
import { processesOf } from '../support/leftovers.ts';
import { makeNamespaces } from '../support/namespaces.ts';
import type { RunningServer } from '../support/server.ts';
import { TwoHosts } from '../support/two-hosts.ts';
import { waitFor } from '../support/wait-for.ts';

const network = await makeNamespaces();
const skip = typeof network === 'string' && network;
const settings = { link_streams: true };
let hosts: TwoHosts;

before(async () => {
  if (typeof network === 'string') return;
  hosts = await TwoHosts.start(network, { far: 'qemu', config: { Server: settings }, stopNodes: false });
});
after(async () => {
  try {
    await hosts?.stop();
  } finally {
    if (typeof network !== 'string') await network.remove();
  }
});

const fabricOf = ({ dataDir, runtimeDirectory }: RunningServer) => {
  const found = processesOf(dataDir, runtimeDirectory).find(({ commandLine }) => commandLine.includes('fabric/main.'));
  assert.ok(found, 'no fabric');
  return found.pid;
};

/** TCP ports on which the second server listens for links. */
async function listeners(): Promise<number[]> {
  assert.ok(typeof network !== 'string');
  const lines = (await network.run(1, 'ss', '-ltnH')).trim().split('\n');
  const ports = lines.map((line) => Number(/:(\d+)\s/.exec(line)?.[1]));
  return ports.filter((port) => port >= 22_000 && port < 31_700);
}

test('frames go over TCP where only that passes, and as datagrams where only they do', { skip }, async () => {
  assert.ok(typeof network !== 'string');
  await hosts.isCarried('stream');
  await hosts.reached();
  await network.block('udp');
  await hosts.reached();
  await network.unblock('udp');
  await network.block('tcp');
  await hosts.isCarried('udp');
  await hosts.reached();
  await network.unblock('tcp');
  await hosts.isCarried('stream');
  const stats = await hosts.client.get<LinkStats>(`${hosts.link}/stats`);
  assert.ok(stats.directions.every(({ frames }) => frames > 0));
});

test('a foreign host in the network gets nothing, and changes nothing', { skip }, async () => {
  assert.ok(typeof network !== 'string');
  const ports = await listeners();
  assert.equal(ports.length, 1);
  // Sends an invalid proof, and a frame; returns all received bytes until it is disconnected.
  const visit = `
    let received = '';
    const socket = require('node:net').connect(${ports[0]}, '${network.ends[1]}');
    socket.on('data', (chunk) => { received += chunk.toString('hex'); });
    socket.on('error', () => undefined);
    socket.on('close', () => console.log(received));
    socket.write(Buffer.concat([Buffer.alloc(48, 1), Buffer.from([0, 0, 0, 60]), Buffer.alloc(60)]));
  `;
  // The end of a stream that is not encrypted greets first.
  assert.equal((await network.run(0, process.execPath, '-e', visit)).trim(), '');
  await hosts.reached();
  await hosts.isCarried('stream');
});

for (const [index, which] of (['first', 'second'] as const).entries()) {
  test(`it is back after the fabric of the ${which} server was killed, and after the server was`, { skip }, async () => {
    const server = hosts.servers[index] as RunningServer;
    process.kill(fabricOf(server), 'SIGKILL');
    await hosts.reached();
    await hosts.isCarried('stream');
    const pid = fabricOf(server);
    await server.kill9();
    await server.restart();
    hosts.leave();
    await hosts.isConnected(true);
    await hosts.untilUsable();
    await hosts.reached();
    await hosts.isCarried('stream');
    assert.equal(fabricOf(server), pid);
  });
}

test('a server with streams switched off gets datagrams, and listens on no port', { skip }, async () => {
  const [, away] = hosts.servers;
  settings.link_streams = false;
  await away.restart();
  assert.deepEqual(await listeners(), []);
  await hosts.isConnected(true);
  await hosts.untilUsable();
  await hosts.isCarried('udp');
  await hosts.reached();
  settings.link_streams = true;
  await away.restart();
  await hosts.isConnected(true);
  await waitFor(async () => (await listeners()).length === 1, { what: 'the end that accepts' });
  await hosts.isCarried('stream');
  await hosts.reached();
  await hosts.client.delete(hosts.project.path);
  assert.deepEqual(await listeners(), []);
});
