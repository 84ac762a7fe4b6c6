import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DockerEngine, noEngine } from '../../../test/support/docker-engine.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import type { Host } from '../host/host.ts';
import { dockerDriver } from './driver.ts';
import { dockerKind } from './kind.ts';

const reason = await noEngine();
let engine: DockerEngine | undefined;

if (reason === undefined) {
  before(async () => {
    engine = await DockerEngine.start();
  });
  after(async () => {
    const left = await engine?.containers();
    await engine?.stop();
    assert.ok(left);
  });
  const withEngine = (host: Host): Host => ({
    ...host,
    settings: { ...host.settings, Docker: { socket_path: engine?.socket ?? '' } },
  });
  emulatorContract({
    kind: dockerKind,
    makeDriver: (host) => dockerDriver(withEngine(host)),
    properties: { image: 'pb-test', start_command: 'sh', adapters: 2 },
    firstPort: 32_000,
    console: { type: 'echo is-$FROM_IMAGE\r', shows: /is-yes/ },
    broken: { properties: { start_command: '/bin/none-such', adapters: 0 } },
    skip: { create: 'a container is made with the node' },
  });
} else test('docker: the contract', { skip: reason }, () => {});
