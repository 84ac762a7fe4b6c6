/** Consoles of real shells on real terminals: at a login, at a prompt, in the middle of a boot, with a line typed, behind a pager. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, describe, test } from 'node:test';
import { CommandConsole } from '../../lab/checks/console/command-console.ts';
import { ConsoleConnection, type ConsoleWire } from '../../lab/checks/console/console-connection.ts';
import { Dialogue } from '../../lab/checks/console/dialogue.ts';
import { Platforms, platformOf } from '../../lab/checks/console/platforms.ts';
import { missingPrograms } from '../support/missing-programs.ts';
import { waitFor } from '../support/wait-for.ts';

const platforms = await Platforms.load();
const skip = await missingPrograms(['script', 'bsdutils'], ['busybox', 'busybox-static']);
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** A program on a terminal of its own (script of util-linux). */
function terminal(command: string): ConsoleWire {
  const env = { ...process.env, ENV: '', HISTFILE: '', TERM: 'vt100' };
  const child = spawn('script', ['-qfec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'], env });
  children.push(child);
  const wire: ConsoleWire & { ended: string | undefined } = {
    ended: undefined,
    onReceive: () => undefined,
    send: (bytes) => void child.stdin?.write(bytes),
    close: () => void child.kill('SIGKILL'),
  };
  child.stdin?.on('error', () => undefined);
  child.stdout?.on('data', (data: Buffer) => wire.onReceive(data));
  child.once('close', () => {
    wire.ended = 'the program ended';
    wire.onReceive();
  });
  return wire;
}

const limit = () => AbortSignal.timeout(40_000);

async function consoleOf(command: string, { platform = 'linux', login = {} } = {}) {
  const dialogue = new Dialogue('N', () => 0);
  const wire = terminal(command);
  const console = new CommandConsole(new ConsoleConnection(wire, dialogue), await platforms.get(platform, '.'), login);
  return { console, wire, said: () => dialogue.entries.map(({ text }) => text).join('') };
}

const shell = `env PS1='box:/# ' busybox sh`;
const login = (prelude: string) =>
  `sh -c '${prelude} while true; do printf "box login: "; read u; stty -echo; printf "Password: "; read p; stty echo; echo; ` +
  `[ "$u $p" = "admin secret" ] && exec ${shell.replaceAll("'", '"')}; echo "Login incorrect"; done'`;

describe('consoles', { concurrency: true, skip }, () => {
  test('output and exit codes of a shell, whatever the command prints', async () => {
    const { console } = await consoleOf(shell);
    assert.deepEqual(await console.run('echo one; echo two', limit()), { output: 'one\ntwo', exitCode: 0 });
    assert.deepEqual(await console.run("printf 'box:/# \\npb-end-x\\n'; false", limit()), {
      output: 'box:/# \npb-end-x'.replace('# ', '#'),
      exitCode: 1,
    });
    assert.deepEqual(await console.run("echo \"it's\" 'a $HOME' # comment", limit()), { output: "it's a $HOME", exitCode: 0 });
    assert.equal((await console.run(`echo ${'x'.repeat(300)}`, limit())).output, 'x'.repeat(300));
    assert.deepEqual(await console.run('for i in 1 2\ndo\n  printf "%s\\n" $i\ndone', limit()), { output: '1\n2', exitCode: 0 });
    assert.equal((await console.run('nothing-of-this-name', limit())).exitCode, 127);
    console.close();
  });

  test('a line that was typed is discarded, not carried out; an open quote is left', async () => {
    const { console, wire, said } = await consoleOf(shell);
    wire.send(Buffer.from('echo done-by-old-line'));
    assert.deepEqual(await console.run('echo fresh', limit()), { output: 'fresh', exitCode: 0 });
    assert.doesNotMatch(said(), /\ndone-by-old-line/);
    wire.send(Buffer.from("echo 'open\r"));
    assert.deepEqual(await console.run('echo again', limit()), { output: 'again', exitCode: 0 });
    console.close();
  });

  test('a boot is waited for, then a login; the password is not in the dialogue', async () => {
    const boot = 'echo "Booting # "; sleep 1; echo "[ OK ] started";';
    const { console, said } = await consoleOf(login(boot), { login: { user: 'admin', password: 'secret' } });
    assert.deepEqual(await console.run('echo in', limit()), { output: 'in', exitCode: 0 });
    assert.match(said(), /box login: admin/);
    assert.doesNotMatch(said(), /secret/);
    console.close();
  });

  test('a wrong password is an error that says so', async () => {
    const { console } = await consoleOf(login(''), { login: { user: 'admin', password: 'wrong' } });
    await assert.rejects(console.run('echo in', limit()), /asked 6 times for ".*(login|Password):"\. Check the user and password/);
    console.close();
  });

  test('a command that does not end is an error with the last line; the console can be used again', async () => {
    const first = await consoleOf(shell);
    const limited = new AbortController();
    const unfinished = first.console.run('echo almost; cat', limited.signal);
    const fails = assert.rejects(unfinished, /did not answer in time; its last line is "almost"/);
    await waitFor(() => /\nalmost\r?\n/.test(first.said()), { what: 'the output of the command' });
    limited.abort();
    await fails;
    first.console.close();
  });

  test('a console that ends is an error', async () => {
    const { console } = await consoleOf('true');
    await assert.rejects(console.run('echo', limit()), /the console was closed: the program ended/);
  });

  test('a command line without exit codes: modes, refused lines, a pager', async () => {
    const script = [
      'p="R1#"; while printf "%s" "$p"; do read -r l || exit; case "$l" in',
      '"show long") stty raw -echo; printf "one\r\n--More--"; dd bs=1 count=1 >/dev/null 2>&1; stty sane; printf "\\b\\b\\b\\b\\b\\b\\b\\b        \\b\\b\\b\\b\\b\\b\\b\\b"; echo two;;',
      '"configure terminal") p="R1(config)#";; end) p="R1#";; hostname*|terminal*|!*|"") ;; *) echo "% Invalid input detected";; esac; done',
    ].join(' ');
    const { console } = await consoleOf(`sh -c '${script}'`, { platform: 'ios-like' });
    assert.deepEqual(await console.run('show long', limit()), { output: 'one\ntwo', exitCode: 0 });
    assert.deepEqual(await console.run('bogus', limit()), { output: '% Invalid input detected', exitCode: 1 });
    assert.equal((await console.configure('hostname X', limit())).exitCode, 0);
    assert.equal((await console.configure('nonsense', limit())).exitCode, 1);
    console.close();
  });
});

test('a platform that cannot be used says why', async () => {
  await assert.rejects(
    platforms.get('../other.yaml', '.'),
    /the platform \.\.\/other\.yaml is outside of the folder of the lab file/,
  );
  const base = 'title: x\nnewline: "\\r"\nclear: ""\nprompt: "> $"\nsync: "!{token}"\n';
  assert.equal(platformOf('good', base).title, 'x');
  assert.throws(() => platformOf('bad', `${base}prompts: x\n`), /the platform bad cannot be used: /);
  assert.throws(() => platformOf('bad', base.replace('> $', '(')), /the platform bad cannot be used: Invalid regular expression/);
  assert.throws(() => platformOf('bad', 'a: ['), /the platform bad cannot be used: /);
});
