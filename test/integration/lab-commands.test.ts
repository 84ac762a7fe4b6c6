/** `patchbay lab`: what people and pipelines type, against a real server with credentials, and on servers of its own. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findEntry } from '../../cli/address.ts';
import { readValue } from '../../cli/lab/lab-source.ts';
import { processesOf } from '../support/leftovers.ts';
import { serverProgram, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'lab-'));
after(() => rm(folder, { recursive: true }));
const server = await startServer({
  config: { Server: { auth: true, user: 'ada', password: 's3cret' }, Qemu: { acceleration: 'off' } },
});
after(() => server.stop());
await writeFile(join(folder, 'netrc'), 'machine 127.0.0.1 login ada password s3cret\n', { mode: 0o600 });

const labText = `name: pair
defaults: {kind: vpcs}
nodes:
  PC[1-2]: {config: "ip 10.0.0.\${index}/24\\n"}
links:
  - [PC1, PC2]
`;
await writeFile(join(folder, 'lab.yaml'), labText);

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [serverProgram, ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', PATCHBAY_URL: server.url, NETRC: join(folder, 'netrc'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function lab(line: string, env: Record<string, string> = {}): Promise<Ran> {
  const child = start(['lab', ...line.split(' ')], env);
  const texts = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (texts.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (texts.err += text));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, ...texts };
}

describe('patchbay lab', () => {
  it('needs the password of a server, from a file or the environment and never from an option', async () => {
    const refused = await lab('list', { NETRC: '/nonexistent' });
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /needs a user and a password: set PATCHBAY_USER/);
    assert.equal((await lab('list', { NETRC: '/nonexistent', PATCHBAY_USER: 'ada', PATCHBAY_PASSWORD: 's3cret' })).code, 0);
    const option = await lab(`list --url ${server.url.replace('//', '//ada:s3cret@')}`);
    assert.match(option.err, /must not hold a password/);
    assert.match(
      (await lab('list', { PATCHBAY_URL: 'http://127.0.0.1:1' })).err,
      /No answer from http:\/\/127.0.0.1:1: .*Start a server/,
    );
    const netrc = '# old\nmachine a login x password y\nmachine b\n  login u\n  password p\ndefault login d password e\n';
    assert.deepEqual(findEntry(netrc, 'b'), { user: 'u', password: 'p' });
    assert.deepEqual(findEntry(netrc, 'c'), { user: 'd', password: 'e' });
    assert.equal(findEntry(netrc, 'b', 'other')?.user, undefined);
  });

  it('plans with exit codes, applies, drives the lab, and destroys it', async () => {
    const planned = await lab('plan');
    assert.equal(planned.code, 2, planned.err);
    assert.match(planned.out, /^ {2}\+ project pair\n {2}\+ node PC1\n[\s\S]*\n4 to create, 0 to change/);
    assert.equal((await lab('apply --plan')).code, 2);
    const applied = await lab('apply --start --json');
    assert.equal(applied.code, 0, applied.err);
    assert.equal((JSON.parse(applied.out) as { plan: unknown[] }).plan.length, 4);
    assert.equal((await lab('plan')).code, 0);
    assert.match((await lab('list pair')).out, /^NODE +KIND +STATUS +CONSOLE\nPC1 +vpcs +started +telnet /);
    // PC2 may still check its address.
    await waitFor(async () => /^10\.0\.0\.2 icmp_seq=1 .*ms$/m.test((await lab('exec PC1 -- ping 10.0.0.2 -c 1')).out), {
      what: 'a ping',
    });
    const refused = await lab('exec PC1 -- bogus');
    assert.deepEqual([refused.code, refused.err], [1, 'The exit code is 1.\n']);
    assert.equal((JSON.parse((await lab('exec PC1 --json -- show ip')).out) as { exit_code: number }).exit_code, 0);
    assert.match((await lab('impair PC1-PC2 delay=20ms 5ms ab.loss=1%'.replace(' 5ms', ''))).out, /delay=20 packet_loss_ab=1/);
    const drift = await lab('diff --json');
    assert.equal(drift.code, 2);
    assert.equal((JSON.parse(drift.out) as { drift: string }[])[0]?.drift, 'changed');
    assert.match((await lab('graph --dot')).out, /"PC1" -- "PC2" \[taillabel="Ethernet0"/);
    assert.match((await lab('stop PC2')).out, /PC2 +stopped/);
    const frozen = await lab('freeze booted');
    assert.equal(frozen.code, 0, frozen.err);
    assert.match(frozen.out, /^booted: 1 machines, \d+ MiB, paused \d+ ms\n$/);
    assert.equal(frozen.err, '');
    assert.match((await lab('fork booted --name twin')).out, /^FORK +ID\ntwin +[0-9a-f-]{36}\n$/);
    assert.equal((await lab('destroy --yes -p twin')).code, 0);
    assert.match((await lab('rewind booted')).out, /PC1 +started\nPC2 +stopped/);
    assert.match((await lab('rewind boted')).err, /there is no snapshot "boted".*"booted"/);
    assert.match((await lab('export')).out, /packet_loss_ab: \[1\]/);
    assert.match((await lab('apply')).out, /0 to create, 1 to change/);
    await writeFile(join(folder, 'one.yaml'), 'name: pair\nnodes:\n  PC1: {kind: vpcs}\n');
    const unconfirmed = await lab('apply one.yaml');
    assert.equal(unconfirmed.code, 1);
    assert.match(unconfirmed.err, /Delete PC2 with their files\? Confirm with --yes/);
    assert.equal((await lab('apply one.yaml --yes')).code, 0);
    assert.equal((await lab('destroy --yes')).code, 0);
    assert.deepEqual(JSON.parse((await lab('list --json')).out), []);
  });

  it('captures a link into a file, to its limit', async () => {
    assert.equal((await lab('apply --start')).code, 0);
    const file = join(folder, 'link.pcap');
    const { code, err } = await lab(`capture PC1:Ethernet0 -o ${file} --seconds 1`);
    assert.equal(code, 0, err);
    assert.equal((await readFile(file)).subarray(0, 4).toString('hex'), 'd4c3b2a1');
    assert.equal((await lab('destroy -y')).code, 0);
  });

  it('says what is wrong with a line, with help at hand', async () => {
    assert.match((await lab('plan --projekt x')).err, /Unknown option '--projekt'. See: patchbay lab plan --help/);
    await writeFile(join(folder, 'vlan.yaml'), `nodes: {S: {kind: ethernet_switch, vlans: {Ethernet0: "\${vlan}"}}}\n`);
    assert.match((await lab('plan vlan.yaml --var vlan=twenty')).err, /vlan.yaml:1:\d+: nodes.S.vlans.Ethernet0 /);
    const planned = await lab('plan vlan.yaml --var vlan=20');
    assert.equal(planned.code, 2, planned.err);
    const texts = ['1.10', '007', '1e3', '', 'frr:9', 'a: b', 'a #b', '[1]', '{', 'null', '.inf'];
    assert.deepEqual(texts.map(readValue), texts);
    assert.deepEqual(['20', '-1.5', 'true', '"20"', "'x'"].map(readValue), [20, -1.5, true, '20', 'x']);
    assert.match((await lab('plan none.yaml')).err, /none.yaml cannot be read: there is no such file/);
    assert.match((await lab('frobnicate all')).err, /lab apply \[FILE\]/);
    const help = await lab('impair --help');
    assert.match(help.out, /Examples\n {2}patchbay lab impair R1-R2 delay=20ms loss=1%/);
  });
});

describe('patchbay lab run', () => {
  // Other tests have servers of their own in the common folder.
  const temporary = join(folder, 't');
  const env = { TMPDIR: temporary, NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'), NETRC: '' };
  before(() => mkdir(temporary));
  const ownFolders = () => readdir(temporary);

  it('has a server of its own for a command, whose exit code it returns, and leaves nothing', async () => {
    const child = start(['lab', 'run', 'lab.yaml', '--', 'sh', '-c', 'echo "$PATCHBAY_URL $PATCHBAY_PROJECT"; exit 7'], env);
    let out = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
    const code = await new Promise((done) => child.once('close', done));
    assert.equal(code, 7);
    const [, url = ''] = /^(http:\S+) pair$/m.exec(out) ?? [];
    assert.notEqual(url, server.url);
    await assert.rejects(fetch(url));
    assert.deepEqual(await ownFolders(), []);
  });

  it('ends all of it at Ctrl-C', async () => {
    const { child, url } = await runLab();
    child.kill('SIGINT');
    assert.equal(await new Promise((done) => child.once('close', done)), 0);
    await assert.rejects(fetch(url));
    assert.deepEqual(await ownFolders(), []);
  });

  it('leaves no process when it is killed', async () => {
    const { child } = await runLab();
    const left = () => processesOf(temporary, temporary);
    assert.ok(left().length > 0);
    child.kill('SIGKILL');
    await waitFor(() => left().length === 0, { what: 'the end of the server and its nodes', limitMs: 60_000 });
  });

  async function runLab(): Promise<{ child: ChildProcess; url: string }> {
    const child = start(['lab', 'run', 'lab.yaml'], env);
    let err = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
    const url = await waitFor(() => /PATCHBAY_URL=(\S+);/.exec(err)?.[1] ?? false, { what: 'a running lab', limitMs: 90_000 });
    return { child, url: String(url) };
  }
});

it('a reader that has enough is no error', async () => {
  const command = `set -o pipefail; '${process.execPath}' '${join(root, 'src/main.ts')}' completion bash | true`;
  const bash = spawn('bash', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  bash.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  assert.deepEqual([await new Promise((done) => bash.once('close', done)), err], [0, '']);
});

describe('patchbay completion', () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    it(`prints a script for ${shell} with every command and option`, async () => {
      const child = start(['completion', shell]);
      let script = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (script += text));
      await new Promise((done) => child.once('close', done));
      for (const word of ['apply', 'impair', 'completion', 'seconds']) assert.ok(script.includes(word), word);
      if (shell === 'bash') assert.deepEqual(await completeInBash(script), ['start', 'stop']);
    });
  }
});

/** Words that bash offers after `patchbay lab st`. */
async function completeInBash(script: string): Promise<string[]> {
  const lines = `${script}\nCOMP_WORDS=(patchbay lab st)\nCOMP_CWORD=2\n_patchbay\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const bash = spawn('bash', ['-c', lines], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  bash.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  await new Promise((done) => bash.once('close', done));
  return out.trim().split('\n');
}
