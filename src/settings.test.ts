import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

test('the runtime folder of a slice is outside of its data, which hosts may share', async () => {
  const runtimeOf = async (dataDirectory: string, join?: string) => (await readSettings({ dataDirectory, join })).runtimeDirectory;
  assert.equal(await runtimeOf('/data'), '/data/run');
  const ofSlice = await runtimeOf('/data', 'http://controller:3080');
  assert.ok(!ofSlice.startsWith('/data'), ofSlice);
  assert.equal(await runtimeOf('/data', 'http://another:3080'), ofSlice, 'a server that comes back finds it');
  assert.notEqual(await runtimeOf('/data2', 'http://controller:3080'), ofSlice);
});

test('the Docker engine is that of DOCKER_HOST, unless the configuration names one', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-settings-'));
  const before = process.env.DOCKER_HOST;
  context.after(async () => {
    if (before === undefined) delete process.env.DOCKER_HOST;
    else process.env.DOCKER_HOST = before;
    await rm(folder, { recursive: true });
  });
  const socketOf = async (configFile?: string) => (await readSettings({ dataDirectory: folder, configFile })).Docker.socket_path;
  process.env.DOCKER_HOST = 'unix:///run/user/1000/docker.sock';
  assert.equal(await socketOf(), '/run/user/1000/docker.sock');
  const file = join(folder, 'patchbay.conf');
  await writeFile(file, '[Docker]\nsocket_path = /named.sock\n');
  assert.equal(await socketOf(file), '/named.sock');
  for (const elsewhere of ['tcp://10.0.0.1:2375', 'ssh://user@host', 'unix://relative', '']) {
    process.env.DOCKER_HOST = elsewhere;
    assert.equal(await socketOf(), '/var/run/docker.sock', elsewhere);
  }
});

test('console ports that are closed to all and open to all are refused', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'pb-settings-'));
  context.after(() => rm(folder, { recursive: true }));
  const configFile = join(folder, 'patchbay.conf');
  const account = '[Server]\nauth = True\nuser = teacher\npassword = secret\nconsole_ports = False\n';
  await writeFile(configFile, account);
  assert.equal((await readSettings({ dataDirectory: folder, configFile })).Server.console_ports, false);
  await writeFile(configFile, `${account}console_without_credentials = True\n`);
  await assert.rejects(
    readSettings({ dataDirectory: folder, configFile }),
    /console_ports is off and console_without_credentials is on/,
  );
});
