/** Steps by SSH and inside containers, between containers of a real engine: a real SSH server, reached through another container. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { ServerClient } from '../../cli/server-client.ts';
import { checkApi } from '../../cli/test/check-api.ts';
import { writeReport } from '../../cli/test/write-report.ts';
import { ensureImage, loadImage } from '../../demo/containers/image.ts';
import { Platforms } from '../../lab/checks/console/platforms.ts';
import type { SshSettings } from '../../lab/checks/definition/step-schema.ts';
import { LabSite } from '../../lab/checks/run/lab-site.ts';
import { findFirstFailure } from '../../lab/checks/run/step-report.ts';
import { testLab } from '../../lab/checks/test-lab.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { DockerEngine, noEngine } from '../support/docker-engine.ts';
import { patientFidelity } from '../support/patient-fidelity.ts';
import { sshdRecipe, sshPassword } from '../support/sshd.ts';
import { withServer } from '../support/with-server.ts';

const run = promisify(execFile);

async function buildImage(): Promise<{ readonly archive: string } | { readonly missing: string }> {
  const missing = await noEngine(['ssh', 'openssh-client'], ['docker', 'docker.io']);
  if (missing !== undefined) return { missing };
  return ensureImage(sshdRecipe).then(
    (archive) => ({ archive }),
    (error: Error) => ({ missing: `the image cannot be made: ${error.message}` }),
  );
}

const image = await buildImage();
const skip = 'missing' in image ? image.missing : undefined;
const engine = 'archive' in image ? await DockerEngine.start() : undefined;
after(() => engine?.stop());
if (engine && 'archive' in image) await loadImage(engine.socket, sshdRecipe, image.archive);
const { server } = await withServer({ config: { Docker: { socket_path: engine?.socket ?? '/nowhere/docker.sock' } } });
const client = new ServerClient({ url: server.url });
const folder = await mkdtemp(join(tmpdir(), 'pb-ssh-'));
after(() => rm(folder, { recursive: true, force: true }));
// The client of the engine, through which SSH reaches nodes inside the lab, and the secrets of the lab.
const env = { DOCKER_HOST: `unix://${engine?.socket}`, PATCHBAY_SSH_ROOT: sshPassword, PATCHBAY_SSH_WRONG: 'Lerche-11' };
Object.assign(process.env, env);
after(() => {
  for (const name of Object.keys(env)) delete process.env[name];
});

const ways = { host: '10.9.0.2', via: 'A', user: 'root' };
const limit = () => AbortSignal.timeout(60_000);

const inB = (command: string) => ({ node: 'B', by: 'container', run: command });
const checks = [
  { node: 'A', by: 'container', run: 'ip addr add 10.9.0.1/24 dev eth0' },
  inB('ip addr add 10.9.0.2/24 dev eth0'),
  inB('echo found-it > /tmp/index.html; httpd -p 8080 -h /tmp'),
  { node: 'B', by: 'ssh', run: 'id -u; echo a problem >&2; exit 3', expect: { match: '^0$', text: 'a problem', exit_code: 3 } },
  { node: 'B', by: 'ssh', run: 'for i in 1 2\ndo echo "line $i"\ndone', expect: { text: 'line 2' } },
  { node: 'B', by: 'ssh', ping: { to: '10.9.0.1', count: 2 } },
  { node: 'A', by: 'container', http: 'http://10.9.0.2:8080/', expect: { body: 'found-it' } },
  { node: 'A', by: 'container', tcp: '10.9.0.2:22', eventually: '20s' },
];
const missingProgram = { node: 'A', by: 'container', iperf: { to: '10.9.0.2', server: 'B' } };

async function labOf(ssh: object, steps: readonly object[]) {
  const tree = {
    name: 'by-ssh',
    defaults: { kind: 'docker', image: sshdRecipe.name },
    nodes: { A: null, B: null },
    links: [['A', 'B']],
    checks: steps,
    test: {
      fidelity: patientFidelity,
      nodes: { A: { platform: 'frr', ready: 'started' }, B: { ssh, ready: { run: 'true', by: 'container' } } },
    },
  };
  return loadLab({ text: stringify(tree), file: 'lab.yaml', files: filesOf({}), vars: {} });
}

const options = { seed: 7, base: folder, signal: AbortSignal.timeout(300_000), cleanup: client };

describe('steps by SSH and in containers', { skip, timeout: 300_000 }, () => {
  test('commands, probes, host keys and secrets; directly and through a container', async () => {
    const report = await testLab(
      checkApi(client),
      await labOf({ ...ways, password_env: 'PATCHBAY_SSH_ROOT' }, [...checks, missingProgram]),
      { ...options, keep: true },
    );
    const wrong = findFirstFailure(report.steps);
    assert.deepEqual(
      [wrong?.name, report.steps.at(-2)?.outcome],
      [report.steps.at(-1)?.name, 'passed'],
      JSON.stringify([wrong, report.ready]),
    );
    assert.match(wrong?.problems[0] ?? '', /iperf cannot be carried out, as the node lacks the program: .*iperf3.*not found/);
    assert.deepEqual(report.consoles.map(({ node }) => node).toSorted(), ['A (container)', 'B (container)', 'B (ssh)']);
    await writeReport(report, { junit: undefined, html: undefined, artifacts: join(folder, 'reports') });
    for (const entry of await readdir(join(folder, 'reports'), { recursive: true, withFileTypes: true })) {
      if (entry.isFile())
        assert.ok(!(await readFile(join(entry.parentPath, entry.name), 'utf8')).includes(sshPassword), entry.name);
    }

    const [project] = await client.json<{ project_id: string }[]>('GET', '/v2/projects');
    assert.ok(project);
    const open = (ssh: SshSettings) => siteOf(project.project_id, ssh);
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'id')]);
    const site = await open({ ...ways, password_env: 'PATCHBAY_SSH_ROOT' });
    const inContainer = async (command: string) =>
      (await site.useShell({ node: 'B', by: 'container' }, limit(), (shell) => shell.run(command, limit()))).output;
    const publicKey = (await readFile(join(folder, 'id.pub'), 'utf8')).trim();
    await inContainer(`umask 077; echo '${publicKey}' > /root/.ssh/authorized_keys`);
    const [hostKey = ''] =
      /ssh-ed25519 \S+/.exec(await inContainer('dropbearkey -y -f /etc/dropbear/dropbear_ed25519_host_key')) ?? [];
    site.close();
    const pinned = { ...ways, key: 'id', host_key: hostKey };
    process.env.TMPDIR = folder;
    assert.equal(await ask(await open(pinned)), 'works');
    delete process.env.TMPDIR;
    assert.deepEqual(await sshFolders(), []);
    // A key that others can read, as git leaves it, is used as well.
    await run('chmod', ['644', join(folder, 'id')]);
    assert.equal(await ask(await open(pinned)), 'works');
    const other = publicKey.split(' ').slice(0, 2).join(' ');
    await assert.rejects(
      ask(await open({ ...pinned, host_key: other })),
      /SSH to root@10\.9\.0\.2:22 failed: (?:.|\n)*Host key verification failed/,
    );
    await assert.rejects(ask(await open({ ...ways, password_env: 'PATCHBAY_SSH_WRONG' })), (error: Error) => {
      assert.match(error.message, /Permission denied/);
      assert.ok(!error.message.includes(env.PATCHBAY_SSH_WRONG));
      return true;
    });
    const lacks = async (ssh: SshSettings, reason: RegExp) => {
      const lacking = await open(ssh);
      await assert.rejects(lacking.checkSsh('B'), reason);
      lacking.close();
    };
    await lacks({ ...ways, key: '../id' }, /outside of the folder of the lab file/);
    await lacks({ ...ways, key: 'missing' }, /the SSH key of B cannot be read/);
    await lacks(ways, /has no key and no password/);
    await lacks({ ...ways, via: 'C' }, /there is no node "C"/);
    await lacks({ ...ways, key: 'id', password_env: 'PATCHBAY_SSH_ROOT' }, /has password_env and key\. Leave one/);
    await checkHostKeyChange(await open({ ...ways, password_env: 'PATCHBAY_SSH_ROOT' }));
    await checkDirect(open, hostKey);
    await client.json('DELETE', `/v2/projects/${project.project_id}`);
  });

  test('what SSH lacks is found before a node starts', async () => {
    const step = [{ node: 'B', by: 'ssh', run: 'true' }];
    const refused = async (ssh: object, reason: RegExp, steps: readonly object[] = step) =>
      assert.rejects(
        labOf(ssh, steps).then((lab) => testLab(checkApi(client), lab, options)),
        reason,
      );
    await refused(
      { ...ways, password_env: 'PATCHBAY_SSH_UNSET' },
      /the environment variable PATCHBAY_SSH_UNSET, which test\.nodes\.B\.ssh names, is not set/,
    );
    await refused({ ...ways, password_env: 'HOME' }, /password_env/);
    await refused({ ...ways, host: '-oProxyCommand=true' }, /host/);
    // The first step has files of its own by then.
    process.env.TMPDIR = folder;
    const steps = [...step, { node: 'A', http: 'http://10.9.0.2/' }];
    await refused({ ...ways, password_env: 'PATCHBAY_SSH_ROOT' }, /the platform frr has no command for http/, steps);
    delete process.env.TMPDIR;
    assert.deepEqual(await sshFolders(), []);
    await refused(ways, /`by`/, [{ node: 'A', by: 'ssh', config: 'x' }]);
  });
});

/** Folders with keys and passwords that are left. */
async function sshFolders(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('patchbay-ssh-'));
}

async function siteOf(projectId: string, ssh: SshSettings): Promise<LabSite> {
  const settings = new Map([['B', { ssh }]]);
  return LabSite.open({
    api: checkApi(client),
    projectId,
    settings,
    platforms: await Platforms.load(),
    base: folder,
    now: () => 0,
  });
}

async function ask(site: LabSite): Promise<string> {
  try {
    return (await site.useShell({ node: 'B', by: 'ssh' }, limit(), (shell) => shell.run('echo works', limit()))).output;
  } finally {
    site.close();
  }
}

/** The first key of a test counts to its end. */
async function checkHostKeyChange(site: LabSite): Promise<void> {
  const by = (way: 'ssh' | 'container', command: string) =>
    site.useShell({ node: 'B', by: way }, limit(), (shell) => shell.run(command, limit()));
  try {
    assert.equal((await by('ssh', 'echo works')).output, 'works');
    const file = '/etc/dropbear/dropbear_ed25519_host_key';
    await by(
      'container',
      `rm ${file}; dropbearkey -t ed25519 -f ${file}; kill $(pidof dropbear); until dropbear -r ${file} -p 22; do sleep 0.1; done`,
    );
    // A step that is repeated gets a new connection, which does not learn the other key.
    for (let tried = 0; tried < 2; tried++) await assert.rejects(by('ssh', 'echo works'), /Host key verification failed/);
  } finally {
    site.close();
  }
}

/** A management address: here a port of this host, which leads to the server in the container. */
async function checkDirect(open: (ssh: SshSettings) => Promise<LabSite>, oldKey: string): Promise<void> {
  const site = await open({ host: 'unused' });
  const id = String(site.node('B').properties.container_id);
  site.close();
  const tunnel = createServer((socket) => {
    const child = spawn('docker', ['exec', '-i', id, '/patchbay/busybox', 'nc', '127.0.0.1', '22'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    socket.on('error', () => undefined).pipe(child.stdin.on('error', () => undefined));
    child.stdout.pipe(socket);
  });
  await new Promise<void>((resolve) => tunnel.listen(0, '127.0.0.1', resolve));
  try {
    const address = tunnel.address();
    assert.ok(address !== null && typeof address === 'object');
    const direct = { host: '127.0.0.1', port: address.port, user: 'root' };
    process.env.PATCHBAY_SSH_KEY = join(folder, 'id');
    assert.equal(await ask(await open({ ...direct, key_env: 'PATCHBAY_SSH_KEY', host_key: 'any' })), 'works');
    await assert.rejects(
      ask(await open({ ...direct, key_env: 'PATCHBAY_SSH_KEY', host_key: oldKey })),
      /Host key verification failed/,
    );
  } finally {
    delete process.env.PATCHBAY_SSH_KEY;
    tunnel.close();
  }
}
