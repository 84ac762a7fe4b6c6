/** PCs inside a fabric process: made and removed by requests, with a port, a console, settings that survive the process, and states. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { it, type TestContext } from 'node:test';
import type { PcReport, PcSpec } from '../../src/fabric/protocol.ts';
import { consoleLine } from '../../src/fabric/protocol.ts';
import { waitFor } from '../support/wait-for.ts';
import { type FabricBed, linkOf, startFabric, streamEnd } from '../support/with-fabric.ts';

const pcOf = ({ folder }: FabricBed, more: Partial<PcSpec> = {}): PcSpec => ({
  id: 'one',
  name: 'PC1',
  mac: '00:50:79:66:68:03',
  directory: folder,
  script: 'ip 10.0.0.1/24\n',
  ...more,
});

/** Who has 10.0.0.1? Tell 10.0.0.2. */
const request = Buffer.from(
  'ffffffffffff02000000000108060001080006040001020000000001' + '0a000002' + '000000000000' + '0a000001',
  'hex',
);
const isReply = (frame: Buffer) => frame.toString('hex', 20, 32) === '00020050796668030a000001';

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
  const { settings, end } = await bed.client.applyPc(pcOf(bed));
  assert.deepEqual([settings.ip4?.address, end], ['10.0.0.1', undefined]);
  assert.deepEqual((await bed.client.applyPc(pcOf(bed, { script: 'ip 10.0.0.9/24\n' }))).settings, settings);
  await peer.connected();
  peer.send(request);
  assert.ok(isReply((await peer.receive(1))[0] as Buffer));
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

it('changes are reported, and a fabric that is killed has its PCs again, with their settings', async (context) => {
  const bed = await startFabric(context);
  const reports: PcReport[] = [];
  bed.client.onPc((report) => reports.push(report));
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

it('a held PC does nothing; its state has the frames that wait for it, and another PC continues there', async (context) => {
  const bed = await startFabric(context);
  const peer = await streamEnd(context, `${bed.folder}/peer`);
  await bed.client.applyPc(pcOf(bed));
  await bed.client.apply([linkOf(peer.port, { type: 'pc', pc: 'one' })]);
  await peer.connected();
  const { socket, shows } = await consoleOf(context, bed, 'one');
  await shows(/> $/);
  await bed.client.hold([], 60_000, ['one', 'other']);
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
  assert.ok(isReply((await peer.receive(1))[0] as Buffer));
  await other.shows(/PC1> x$/);
});

it('a state that is not valid ends that PC, with the reason, and no other', async (context) => {
  const bed = await startFabric(context);
  await bed.client.applyPc(pcOf(bed, { id: 'sound' }));
  const { end } = await bed.client.applyPc(pcOf(bed, { state: { pc: { version: 99 } } }));
  assert.ok(end?.kind === 'failed' && /its saved state/.test(end.message), JSON.stringify(end));
  assert.equal((await bed.client.applyPc(pcOf(bed, { id: 'sound' }))).end, undefined);
  await assert.rejects(bed.client.probePc('one', { type: 'arp' }, 1000), /has ended/);
  assert.deepEqual(await bed.client.probePc('sound', { type: 'arp' }, 1000), { type: 'arp', entries: [] });
});
