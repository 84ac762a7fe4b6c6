import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { buildStandIn, compilerObstacle, iosHead } from '../../../test/support/dynamips/programs.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import type { Host } from '../host/host.ts';
import { dynamipsDriver } from './driver.ts';
import { dynamipsKind } from './kind.ts';

const obstacle = await compilerObstacle();
const program = obstacle === undefined ? await buildStandIn() : '';
const folder = await mkdtemp(join(tmpdir(), 'pb-ios-'));
after(() => rm(folder, { recursive: true, force: true }));
const image = join(folder, 'c7200.bin');
await writeFile(image, iosHead, { mode: 0o644 });
const notIos = join(folder, 'readme.txt');
await writeFile(notIos, 'not an image\n', { mode: 0o644 });

/** A driver that starts the stand-in; nothing is waited for when idle-PC values are looked for. */
function makeDriver(host: Host) {
  const { settings } = host;
  const Dynamips = { ...settings.Dynamips, dynamips_path: program };
  return dynamipsDriver({ ...host, settings: { ...settings, Dynamips } }, { bootMs: 0, trialMs: 0 });
}

describe('with the stand-in', { skip: obstacle }, () => {
  emulatorContract({
    kind: dynamipsKind,
    makeDriver,
    properties: { platform: 'c3725', image, ram: 128, startup_config_content: 'hostname %h\n' },
    firstPort: 31_500,
    console: { type: '\r', shows: /bench#/ },
    broken: { properties: { image: notIos } },
  });
});
