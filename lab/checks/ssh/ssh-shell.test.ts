/** OpenSSH's client as steps use it, without a server: one is in test/lab/ssh-steps.test.ts. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { waitFor } from '../../../test/support/wait-for.ts';
import { Dialogue } from '../console/dialogue.ts';
import { Platforms } from '../console/platforms.ts';
import { SshFolder } from './ssh-access.ts';
import { type SshTarget, sshArguments } from './ssh-arguments.ts';
import { SshShell } from './ssh-shell.ts';

const skip = spawnSync('ssh', ['-V']).error !== undefined && 'openssh-client is not installed';
const folder = await mkdtemp(join(tmpdir(), 'pb ssh %h-'));
after(() => rm(folder, { recursive: true, force: true }));
const target: SshTarget = {
  host: '127.0.0.1',
  port: 22,
  user: 'root',
  viaContainer: 'abcdefabcdef',
  keyPath: join(folder, 'key-0'),
  knownHosts: join(folder, 'known-hosts-0'),
  trust: 'first',
};

describe('the client of SSH', { skip, timeout: 60_000 }, () => {
  test('files of a folder with blanks and % in its name', async () => {
    const { stdout } = await promisify(execFile)('ssh', ['-G', ...sshArguments(target, 'true')]);
    const shown = stdout.replaceAll('%%', '%');
    for (const line of [`userknownhostsfile ${target.knownHosts}`, `identityfile ${target.keyPath}`])
      assert.ok(shown.includes(line), stdout);
  });

  test('a password needs no program in the folder for temporary files, which may be mounted noexec', async () => {
    const settings = { host: '127.0.0.1', host_key: 'ssh-ed25519 AAAA' };
    const access = new SshFolder(folder);
    try {
      const node = { name: 'R1', settings, defaultUser: 'root', defaultPassword: "a 'b' $c %d\\", viaContainer: undefined };
      const { target: found, env } = await access.access(node);
      const own = dirname(found.knownHosts);
      const modes = await Promise.all((await readdir(own)).map(async (name) => (await stat(join(own, name))).mode & 0o111));
      assert.deepEqual(modes, [0]);
      const { stdout } = await promisify(execFile)(env.SSH_ASKPASS ?? '', ["root@node's password: "], { env });
      assert.equal(stdout, `${node.defaultPassword}\n`);
    } finally {
      access.close();
    }
  });

  test('a connection that takes too long ends together with the program that makes it', async () => {
    const platform = (await Platforms.load()).remote ?? assert.fail();
    // Stands for the client of Docker: it never connects, and holds the output open.
    await writeFile(join(folder, 'docker'), `#!/bin/sh\ntouch '${folder}/started'\nexec sleep 3600\n`, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const shell = new SshShell({ target, platform, env, dialogue: new Dialogue('R1', () => 0) });
    const limit = new AbortController();
    const ended = assert.rejects(shell.run('true', limit.signal), /SSH did not answer in time/);
    await waitFor(() => existsSync(join(folder, 'started')), { what: 'the program that makes the connection' });
    limit.abort();
    await ended;
  });
});
