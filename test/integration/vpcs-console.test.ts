/** The console server in front of a real vpcs, without a server process around them. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openConsole } from '../../src/compute/console/console.ts';
import { Bench } from '../../src/emulators/contract-bench.ts';
import type { ConsoleSource } from '../../src/emulators/driver.ts';
import { vpcsDriver } from '../../src/emulators/vpcs/driver.ts';
import { vpcsKind } from '../../src/emulators/vpcs/kind.ts';
import { endMarked, listMarked } from '../../src/process/orphans.ts';
import { firstFreePort } from '../support/port-block.ts';
import { openTelnet } from '../support/telnet.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pb-'));
  await mkdir(join(folder, 'run'));
});
after(async () => {
  await endMarked(await listMarked(join(folder, 'run')), 0);
  await rm(folder, { recursive: true });
});

test('several clients on one vpcs, a reset, and a console server that starts again', async () => {
  const bench = new Bench({ kind: vpcsKind, makeDriver: vpcsDriver, properties: {}, firstPort: firstFreePort + 100 }, folder);
  const { emulator } = await bench.start();
  const source = emulator.console() as ConsoleSource;
  const first = await openConsole({ source, host: '127.0.0.1', port: 0 });
  const one = await openTelnet(first.port);
  await one.expect(/Virtual PC Simulator, version.*VPCS> $/s, 10_000);
  // Nothing of vpcs's own negotiation: only what the console offers itself.
  assert.equal(one.received().filter((byte) => byte === 0xff).length, 4);
  const two = await openTelnet(first.port);
  await two.expect(/VPCS> $/);
  two.send('set pcname PC7\r');
  await Promise.all([one.expect(/PC7> $/), two.expect(/PC7> $/)]);
  one.send('sho');
  two.send('w ip\r');
  const [shown] = await Promise.all([one.expect(/LPORT\s+: (\d+)/), two.expect(/LPORT\s+: (\d+)/)]);
  const spec = emulator.port(0, 0);
  assert.equal(spec?.type === 'udp' && spec.rport, Number(shown[1]));

  await first.reset();
  await Promise.all([one.closed, two.closed]);
  const three = await openTelnet(first.port);
  await three.expect(/PC7> $/);
  three.send('\r');
  await three.expect(/PC7> $/);

  const { port } = first;
  await first.close();
  await three.closed;
  const second = await openConsole({ source, host: '127.0.0.1', port });
  const four = await openTelnet(port);
  four.send('\r');
  await four.expect(/PC7> $/);
  four.send('quit\r');
  assert.equal((await emulator.ended).how, 'exited');
  four.close();
  await second.close();
  await bench.assertNothingRuns();
  await bench.host.images.close();
});
