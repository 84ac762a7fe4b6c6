/**
 * Lab files of strangers, as a pipeline gives them to `patchbay test`: what they reach outside of their folder. On a server that is not
 * `local`, and with `--untrusted`, nothing; on the server that the command starts, files that a user of this machine may name as disks.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { patientTest } from '../support/patient-fidelity.ts';
import { serverProgram } from '../support/server.ts';
import { withServer } from '../support/with-server.ts';

const secret = 'the-secret-of-the-runner';
const folder = await mkdtemp(join(tmpdir(), 'pb-hostile-labs-'));
after(() => rm(folder, { recursive: true }));
const [checkout, outside] = [join(folder, 'checkout'), join(folder, 'outside')];
await mkdir(checkout);
await mkdir(outside);
await writeFile(join(outside, 'secret'), secret);
await symlink(join(outside, 'secret'), join(checkout, 'link'));
await symlink(outside, join(checkout, 'folder'));

const { server } = await withServer({ config: { Server: { local: false, allowed_interfaces: 'none0' } } });

interface Attack {
  /** Nodes and what else the lab has. */
  readonly lab: string;
  /** Words of the refusal. */
  readonly refused: RegExp;
  /**
   * Outcome on the server that the command starts, as for any user of this machine; none: the same refusal. `confined`: QEMU is named the
   * file and cannot open it. `given`: the lab gets what it names.
   */
  readonly alone?: 'confined' | 'given';
}

const check = 'checks:\n  - { node: PC1, run: show ip, expect: { text: PC1 } }\n';
const pc = (more: string) => `nodes:\n  PC1: { kind: vpcs${more} }\n`;
const vm = (properties: string) => `nodes:\n  PC1: { kind: vpcs }\n  VM: { kind: qemu, properties: { ram: 16, ${properties} } }\n`;
const path = join(outside, 'secret');
const cannotBeRead = /outside of the folder|is not a file|cannot be read/;

const attacks: Readonly<Record<string, Attack>> = {
  'a configuration in a parent folder': { lab: pc(', config: { file: ../outside/secret }'), refused: cannotBeRead },
  'a configuration by an absolute path': { lab: pc(`, config: { file: ${path} }`), refused: cannotBeRead },
  'a configuration behind a link': { lab: pc(', config: { file: link }'), refused: cannotBeRead },
  'a configuration in a folder behind a link': { lab: pc(', config: { file: folder/secret }'), refused: cannotBeRead },
  'a device for a configuration': { lab: pc(', config: { file: /dev/zero }'), refused: cannotBeRead },
  'frames to replay from elsewhere': {
    lab: `${pc('')}checks:\n  - { node: PC1, replay: ../outside/secret, from: PC1 }\n`,
    refused: /outside of the folder|replay|unknown|not/i,
  },
  'a file of the host as options of QEMU': { lab: vm(`options: "-drive file=${path},format=raw"`), refused: /option/i },
  'a program of the host as options of QEMU': {
    lab: vm(`options: "-chardev pipe,id=a,path=${outside}/p"`),
    refused: /option/i,
    alone: 'confined',
  },
  'a kernel of the host': { lab: vm(`kernel_image: ${path}`), refused: /not found|path|outside|images/i, alone: 'given' },
  'a disk of the host': { lab: vm(`hda_disk_image: ${path}`), refused: /not found|path|outside|images/i, alone: 'given' },
  'an interface of the host': {
    lab: `nodes:\n  PC1: { kind: vpcs }\n  C: { kind: cloud, properties: { ports_mapping: [{ name: lo, port_number: 0, type: ethernet, interface: lo }] } }\nlinks: [[PC1, C]]\n`,
    refused: /interface|allowed/i,
    alone: 'given',
  },
};

interface Ended {
  readonly code: number;
  readonly output: string;
}

function patchbay(...args: string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, [serverProgram, 'test', ...args], { cwd: checkout, timeout: 120_000 }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? -1) : 0, output: stdout + stderr }),
    );
  });
}

async function play(name: string, lab: string, ...args: string[]): Promise<Ended> {
  const file = join(checkout, `${name.replaceAll(' ', '-')}.yaml`);
  await writeFile(file, `name: hostile\n${lab}${lab.includes('checks:') ? '' : check}${lab.includes('test:') ? '' : patientTest}`);
  const artifacts = join(folder, 'artifacts', name.replaceAll(' ', '-'));
  const ended = await patchbay(file, '--artifacts', artifacts, ...args);
  const written = await readdir(artifacts, { recursive: true, withFileTypes: true }).catch(() => []);
  const texts = written.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8'));
  for (const text of [ended.output, ...(await Promise.all(texts))]) assert.ok(!text.includes(secret), text);
  assert.deepEqual(await readdir(outside), ['secret'], 'a file was made outside of the folder');
  return ended;
}

describe('a lab of a stranger reaches nothing outside of its folder', { concurrency: 2 }, () => {
  for (const [name, { lab, refused, alone }] of Object.entries(attacks)) {
    test(`${name}, on a server that is not local`, async () => {
      const { code, output } = await play(name, lab, '--url', server.url);
      assert.equal(code, 2, output);
      assert.match(output, refused);
    });
    test(`${name}, with --untrusted`, async () => {
      const { code, output } = await play(`${name} untrusted`, lab, '--untrusted');
      assert.equal(code, 2, output);
      assert.match(output, alone === 'given' && name.startsWith('an interface') ? /no uplinks/ : refused);
    });
    if (alone !== 'given')
      test(`${name}, on a server of its own`, async () => {
        const { code, output } = await play(`${name} alone`, lab, '--isolated');
        assert.equal(code, alone === 'confined' ? 1 : 2, output);
        assert.match(output, alone === 'confined' ? /Permission denied|No such file/ : refused);
      });
  }
});

const reaching: Readonly<Record<string, string>> = {
  'a container': 'nodes:\n  PC1: { kind: vpcs }\n  C: { kind: docker, image: alpine }\n',
  'the networks of the host': 'nodes:\n  PC1: { kind: vpcs }\n  N: { kind: nat }\n',
  'a template': 'nodes:\n  PC1: { template: NAT }\n',
  SSH: `${pc('')}test: { nodes: { PC1: { ssh: { host: 127.0.0.1, password_env: PATCHBAY_SSH_PATH } } } }\nchecks:\n  - { node: PC1, by: ssh, run: id }\n`,
};
for (const [name, lab] of Object.entries(reaching))
  test(`${name} is refused with --untrusted, before a server is started`, async () => {
    const { code, output } = await play(`${name} untrusted`, lab, '--untrusted');
    assert.equal(code, 2, output);
    assert.match(output, /With --untrusted a lab has no/);
    assert.doesNotMatch(output, /Starting a server/);
  });

test('a lab that needs nothing of the host passes with --untrusted, whatever server is named', async () => {
  const { code, output } = await play(
    'plain',
    `${pc('')}checks:\n  - { node: PC1, run: show ip, expect: { text: MTU } }\n`,
    '--untrusted',
    '--url',
    server.url,
  );
  assert.equal(code, 0, output);
  assert.match(output, /Starting a server/);
});

test('names of nodes that are paths write nothing outside of the folder of artifacts', async () => {
  const name = '../../../outside/x';
  const lab = `nodes:\n  ${JSON.stringify(name)}: { kind: vpcs }\nchecks:\n  - { node: ${JSON.stringify(name)}, run: show ip }\n`;
  const { code, output } = await play('names', lab, '--url', server.url);
  assert.ok([0, 1, 2].includes(code), output);
});
