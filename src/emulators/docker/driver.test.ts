import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DockerEngine, noEngine } from '../../../test/support/docker-engine.ts';
import { emulatorContract } from '../../../test/support/emulator-contract.ts';
import type { Host } from '../host/host.ts';
import { dockerDriver } from './driver.ts';
import { DockerEngine as EngineApi } from './engine.ts';
import { makeNumbered } from './iol-numbers.ts';
import { dockerKind } from './kind.ts';
import { newDocker } from './properties.ts';

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

  test('of two servers that choose the same number of an IOL image at the same time, at most one keeps it', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'pb-iol-'));
    t.after(() => rm(directory, { recursive: true }));
    const api = new EngineApi(engine?.socket ?? '');
    const create = async (nodeId: string, number: number) => {
      const Labels = { 'patchbay.node': nodeId, 'patchbay.iol': String(number) };
      return (await api.post<{ Id: string }>(`/containers/create?name=patchbay.${nodeId}`, { Image: 'pb-test', Labels })).Id;
    };
    const properties = newDocker({ image: 'pb-test', environment: 'IOL_PID=auto' }, 'here');
    const tried: number[] = [];
    const id = await makeNumbered(api, 'here', { properties, directory }, async (number) => {
      tried.push(number);
      if (tried.length === 1) await create('elsewhere', number);
      return create('here', number);
    });
    const labels = ((await engine?.containers()) ?? []).map((one) => [one.Id, one.Labels['patchbay.iol']]);
    const [first, second] = tried;
    assert.equal(tried.length, 2);
    assert.notEqual(first, second);
    assert.deepEqual(labels.find(([one]) => one === id)?.[1], String(second));
    assert.equal(labels.filter(([, number]) => number === String(first)).length, 1);
    for (const name of ['here', 'elsewhere']) await api.delete(`/containers/patchbay.${name}?force=1`);
  });
} else test('docker: the contract', { skip: reason }, () => {});
