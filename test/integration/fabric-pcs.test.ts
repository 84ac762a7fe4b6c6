/** PCs inside a fabric process: made and removed by requests, with a port, a console, settings that survive the process, and states. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { it, type TestContext } from 'node:test';
import { openConsole } from '../../src/compute/console/console.ts';
import type { ConsoleSource } from '../../src/emulators/driver.ts';
import type { PcReport, PcSpec } from '../../src/fabric/protocol.ts';
import { consoleLine } from '../../src/fabric/protocol.ts';
import { command, openTelnet, type TelnetClient } from '../support/telnet.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectedFabric, type FabricBed, linkOf, startFabric, streamEnd } from '../support/with-fabric.ts';

const pcOf = ({ folder }: FabricBed, more: Partial<PcSpec> = {}): PcSpec => ({
  id: 'one',
  name: 'PC1',
  mac: '00:50:79:66:68:03',
  directory: folder,
  script: 'ip 10.0.0.1/24\n',
  ...more,
});

/** ARP request: who has 10.0.0.1? Tell 10.0.0.2. */
const request = Buffer.from(
  'ffffffffffff02000000000108060001080006040001020000000001' + '0a000002' + '000000000000' + '0a000001',
  'hex',
);
const isReply = (frame: Buffer) => frame.toString('hex', 20, 32) === '00020050796668030a000001';

/** Settles when the PC has the address of its script. */
async function startPc({ client, ...bed }: FabricBed): Promise<void> {
  const hasAddress = ({ settings }: PcReport) => settings.ip4?.address === '10.0.0.1';
  const reported = new Promise<void>((settle) => client.onPc('one', (report) => hasAddress(report) && settle()));
  if (!hasAddress(await client.applyPc(pcOf({ client, ...bed })))) await reported;
}

/** A connection to the console of a PC, and what it has shown. */
async function consoleOf(context: TestContext, { socketPath }: FabricBed, id: string) {
  const socket = connect(socketPath);
  context.after(() => socket.destroy());
  let shown = '';
  socket.on('data', (bytes) => {
    shown += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(consoleLine(id));
  return {
    socket,
    shows: (what: RegExp) => waitFor(async () => what.test(shown), { what: `${what} in ${JSON.stringify(shown)}` }),
  };
}

it('a PC answers over its link, whichever of the two is made first, and is there once', async (context) => {
  const bed = await startFabric(context);
  const peer = await streamEnd(context, `${bed.folder}/peer`);
  assert.deepEqual(await bed.client.apply([linkOf(peer.port, { type: 'pc', pc: 'one' })]), []);
  const [link] = await bed.client.stats(['link']);
  assert.equal(link?.connected.b, false);
  await startPc(bed);
  assert.equal((await bed.client.applyPc(pcOf(bed, { script: 'ip 10.0.0.9/24\n' }))).settings.ip4?.address, '10.0.0.1');
  await peer.connected();
  peer.send(request);
  await waitFor(async () => peer.frames.some(isReply), { what: 'the answer' });
  await bed.client.removePc('one');
  const [without] = await bed.client.stats(['link']);
  assert.equal(without?.connected.b, false);
});

it('several connections watch and type at one console; what it showed before comes first', async (context) => {
  const bed = await startFabric(context);
  await bed.client.applyPc(pcOf(bed));
  const [one, other] = [await consoleOf(context, bed, 'one'), await consoleOf(context, bed, 'one')];
  await Promise.all([one.shows(/PC1> $/), other.shows(/PC1> $/)]);
  one.socket.write('set pcname rena');
  other.socket.write('med\r');
  await Promise.all([one.shows(/renamed> $/), other.shows(/renamed> $/)]);
  const later = await consoleOf(context, bed, 'one');
  await later.shows(/PC1> .*renamed> $/s);
  const none = await consoleOf(context, bed, 'no such PC');
  if (!none.socket.closed) await once(none.socket, 'close');
});

it('the console server is connected to a PC while it has clients, and a new one sees the last output', async (context) => {
  const bed = await startFabric(context);
  await bed.client.applyPc(pcOf(bed));
  const source: ConsoleSource = { type: 'unix', path: bed.socketPath, greeting: consoleLine('one') };
  await using stack = new AsyncDisposableStack();
  const console = await openConsole({ source, host: '127.0.0.1', port: 0 });
  stack.defer(() => console.close());
  const telnet = async (): Promise<TelnetClient> => {
    const client = await openTelnet(console.port);
    stack.defer(() => client.close());
    return client;
  };
  const [one, two] = [await telnet(), await telnet()];
  await Promise.all([one.expect(/PC1> $/), two.expect(/PC1> $/)]);
  await Promise.all([command(two, 'set pcname PC7', /PC7> $/), one.expect(/PC7> $/)]);
  one.close();
  two.close();
  await Promise.all([one.closed, two.closed]);
  const three = await telnet();
  await three.expect(/PC1> .*PC7> $/s);
  await console.reset();
  await three.closed;
  const four = await telnet();
  await four.expect(/PC1> .*PC7> $/s);
  await command(four, 'set pcname PC8', /PC8> $/);
});

it('PCs that no client asks for are removed', async (context) => {
  const bed = await startFabric(context);
  await bed.client.applyPc(pcOf(bed, { id: 'kept' }));
  const other = await connectedFabric(bed);
  context.after(() => other.close());
  await other.applyPc(pcOf(bed, { id: 'of a server before' }));
  await bed.client.retainPcs();
  assert.equal(await bed.client.pcState('of a server before'), null);
  assert.notEqual(await bed.client.pcState('kept'), null);
});

it('changes are reported, and a fabric that is killed has its PCs again, with their settings', async (context) => {
  const bed = await startFabric(context);
  const reports: PcReport[] = [];
  bed.client.onPc('one', (report) => void reports.push(report));
  await bed.client.applyPc(pcOf(bed));
  const { socket } = await consoleOf(context, bed, 'one');
  socket.write('ip 10.0.0.7/24\r');
  await waitFor(async () => reports.some(({ settings }) => settings.ip4?.address === '10.0.0.7'), { what: 'a report' });
  const killed = bed.client.pid;
  const restored = new Promise((settle) => bed.client.onRestored(settle));
  process.kill(killed, 'SIGKILL');
  await restored;
  assert.notEqual(bed.client.pid, killed);
  assert.equal((await bed.client.applyPc(pcOf(bed))).settings.ip4?.address, '10.0.0.7');
});

it('while a lease is over, a fabric that is lost has no PCs again, and none is made', async (context) => {
  let isOver = false;
  const bed = await startFabric(context, () => !isOver);
  const { client } = bed;
  await client.applyPc(pcOf(bed));
  const ended = new Promise<PcReport>((settle) => client.onPc('one', (report) => report.end && settle(report)));
  const restored = new Promise((settle) => client.onRestored(settle));
  isOver = true;
  process.kill(client.pid, 'SIGKILL');
  const { end } = await ended;
  assert.ok(end?.kind === 'failed' && /lease/.test(end.message), JSON.stringify(end));
  await restored;
  assert.equal(await client.pcState('one'), null);
  assert.equal((await client.applyPc(pcOf(bed))).end?.kind, 'failed');
  isOver = false;
  assert.equal((await client.applyPc(pcOf(bed))).end, undefined);
});

it('a held PC does nothing; its state has the frames that wait for it, and another PC continues there', async (context) => {
  const bed = await startFabric(context);
  const peer = await streamEnd(context, `${bed.folder}/peer`);
  await startPc(bed);
  await bed.client.apply([linkOf(peer.port, { type: 'pc', pc: 'one' })]);
  await peer.connected();
  const { socket, shows } = await consoleOf(context, bed, 'one');
  await shows(/> $/);
  await bed.client.hold([], 60_000, ['one', 'other']);
  peer.frames.length = 0;
  peer.send(request);
  socket.write('x');
  const state = await waitFor(
    async () => {
      const taken = (await bed.client.pcState('one')) as { arrived: string[]; input: string };
      return taken.arrived.length === 1 && taken.input === '78' && taken;
    },
    { what: 'the frame and the key in its state' },
  );
  assert.deepEqual(peer.frames, []);
  await bed.client.removePc('one');
  await bed.client.applyPc(pcOf(bed, { id: 'other', state, script: 'ip 10.0.0.99/24\n' }));
  await bed.client.apply([linkOf(peer.port, { type: 'pc', pc: 'other' })]);
  const other = await consoleOf(context, bed, 'other');
  await other.shows(/PC1> $/);
  await bed.client.release([], ['other']);
  await waitFor(async () => peer.frames.some(isReply), { what: 'the answer' });
  await other.shows(/PC1> x$/);
});

it('a state that is not valid ends that PC, with the reason, and no other', async (context) => {
  const bed = await startFabric(context);
  await bed.client.applyPc(pcOf(bed, { id: 'sound' }));
  const { end } = await bed.client.applyPc(pcOf(bed, { state: { pc: { version: 99 } } }));
  assert.ok(end?.kind === 'failed' && /its saved state/.test(end.message), JSON.stringify(end));
  assert.equal((await bed.client.applyPc(pcOf(bed, { id: 'sound' }))).end, undefined);
  const limits = { limitMs: 60_000, signal: context.signal };
  assert.equal(await bed.client.probePc('one', { type: 'arp' }, limits), null);
  assert.deepEqual(await bed.client.probePc('sound', { type: 'arp' }, limits), { type: 'arp', entries: [] });
});
