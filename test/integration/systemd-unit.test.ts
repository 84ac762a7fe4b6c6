/** The unit of systemd permits what the server needs. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { trialNamespace } from '../../src/emulators/host/link-namespace.ts';
import { hostDevices, linkDevices } from '../../src/emulators/qemu/give-files.ts';
import { bubblewrapWords } from '../../src/process/bubblewrap/bubblewrap.ts';
import { runTool } from '../../src/process/tool.ts';

const path = new URL('../../packaging/systemd/patchbay.service', import.meta.url);
const unit = await readFile(path, 'utf8');
const settings = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

test('the unit permits the devices of machines and their links', () => {
  const allowed = settings('DeviceAllow');
  for (const device of [...hostDevices, ...linkDevices]) assert.ok(allowed.includes(`${device} rw`), device);
});

test('the unit permits the namespaces of machines, routers and links', () => {
  const names: Record<string, string> = { '--user': 'user', '--net': 'net', '--mount': 'mnt' };
  const root = { reads: [], writes: [] };
  const words = bubblewrapWords({ root, workingFolder: '/', ends: 'parent', hasOwnNetwork: true });
  const ofBubblewrap = words.flatMap((word) => /^--unshare-(\w+)/.exec(word)?.[1] ?? []);
  const needed = [...trialNamespace.flatMap((word) => names[word] ?? []), ...ofBubblewrap, 'user', 'mnt', 'uts'];
  assert.ok(needed.includes('pid'));
  const [permitted = ''] = settings('RestrictNamespaces');
  for (const kind of needed) assert.ok(permitted.split(' ').includes(kind), kind);
});

test('the unit mounts over nothing in /proc and /sys, where bubblewrap could make no PID namespace', () => {
  for (const key of [
    'ProtectKernelTunables',
    'ProtectKernelLogs',
    'ProtectHostname',
    'ProtectProc',
    'ProcSubset',
    'PrivateUsers',
    'PrivateDevices',
  ])
    assert.deepEqual(settings(key), [], key);
});

test('systemd reads the unit', async (context) => {
  const { code, stdout, stderr } = await runTool('systemd-analyze', ['verify', '--man=no', path.pathname], { timeoutMs: 30_000 });
  if (code === undefined) return context.skip('systemd-analyze is not installed');
  const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('patchbay.service:'));
  assert.deepEqual(
    about.filter((line) => !/is not executable|No such file/.test(line)),
    [],
  );
});
