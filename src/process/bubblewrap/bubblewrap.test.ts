/** The reach of a program in bubblewrap, seen from inside, and its filter of system calls, tried by a program that makes them. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runTool, type ToolResult } from '../tool.ts';
import { type BubblewrapSpec, bubblewrapWords } from './bubblewrap.ts';
import { type FilterOptions, systemCallFilter } from './system-call-filter.ts';
import { cloneCalls, deniedCalls, none } from './system-calls.ts';
import { bubblewrapObstacle } from './usable.ts';

const obstacle = await bubblewrapObstacle();
const skip = obstacle === undefined ? false : `bubblewrap cannot be used: ${obstacle}`;
const limitMs = 60_000;

function run(command: readonly string[], spec: Partial<BubblewrapSpec> = {}, options: FilterOptions = {}): Promise<ToolResult> {
  const root = { reads: [], writes: [] };
  const [program = '', ...words] = bubblewrapWords({ root, workingFolder: '/', ends: 'parent', ...spec });
  return runTool(program, [...words, ...command], { timeoutMs: limitMs, filter: systemCallFilter(options) });
}
const sh = (script: string, spec: Partial<BubblewrapSpec> = {}) => run(['sh', '-c', script], spec);

describe('a program in bubblewrap', { skip }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-bwrap-'));
    for (const name of ['read', 'written', 'other']) await writeFile(join(folder, name), name);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('sees its own processes, the files that it was given, and no other', async () => {
    const root = { reads: [join(folder, 'read')], writes: [join(folder, 'written')] };
    const script = `ls /proc | grep -c '^[0-9]'; cat ${folder}/read; ls ${folder}; echo new > ${folder}/written; echo x > ${folder}/read; ls /root /home /var /etc/shadow`;
    const { stdout, stderr } = await sh(script, { root });
    const [processes, ...rest] = stdout.split('\n');
    assert.ok(Number(processes) <= 5, `${processes} processes`);
    assert.equal(rest.join(' ').trim(), 'readread written /var: tmp');
    assert.match(stderr, /Read-only file system/);
    assert.match(stderr, /\/root.*\n.*\/home.*\n?/);
    assert.equal(await readFile(join(folder, 'written'), 'utf8'), 'new\n');
    assert.equal(await readFile(join(folder, 'read'), 'utf8'), 'read');
  });

  test('has no network but a loopback of its own where it is to have none', async () => {
    const count = 'tail -n +3 /proc/net/dev | wc -l';
    assert.equal((await sh(count, { hasOwnNetwork: true })).stdout.trim(), '1');
  });

  test('has no terminal of the server, and no variable of its environment that is not listed', async (t) => {
    process.env.PATCHBAY_TEST_SECRET = 'of the server';
    t.after(() => delete process.env.PATCHBAY_TEST_SECRET);
    const { stdout } = await sh("env; sed 's/.*) . //; s/^/session /' /proc/$$/stat");
    assert.doesNotMatch(stdout, /of the server/);
    assert.match(stdout, /^PATH=/m);
    // The parent, the process group, the session, the terminal.
    const [, , session, terminal] = (/^session (.*)$/m.exec(stdout)?.[1] ?? '').split(' ');
    assert.notEqual(session, '0', 'the session is one of its namespace');
    assert.equal(terminal, '0');
  });

  test('cannot gain privileges, and is filtered', async () => {
    const { stdout } = await sh('grep -E "^(NoNewPrivs|Seccomp):" /proc/self/status');
    assert.match(stdout, /NoNewPrivs:\s+1\nSeccomp:\s+2/);
  });
});

const compiler = await runTool('gcc', ['--version'], { timeoutMs: limitMs });
const skipCalls =
  skip || (compiler.code === 0 && process.arch === 'x64' ? false : 'gcc is not installed, or makes no x86_64 programs');

describe('the filter of system calls', { skip: skipCalls }, () => {
  let folder: string;
  let caller: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-calls-'));
    caller = join(folder, 'caller');
    await writeFile(
      `${caller}.c`,
      `#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
/* Arguments: numbers of calls, each made with hostile ones; prints their errors. With "clone", the flags of one. */
int main(int count, char **words) {
  for (int at = 1; at < count; at++) {
    long flags = words[at][0] == 'f' ? strtol(words[at] + 1, 0, 0) : 0, result;
    errno = 0;
    if (flags) { result = syscall(SYS_clone, flags | 17, 0, 0, 0, 0); if (result == 0) _exit(0); }
    else result = syscall(atol(words[at]), -1, -1, -1, -1, -1, -1);
    printf("%s=%d\\n", words[at], result < 0 ? errno : 0);
  }
  return 0;
}
`,
    );
    const { code, reason } = await runTool('gcc', ['-O1', '-o', caller, `${caller}.c`], { timeoutMs: limitMs });
    assert.equal(code, 0, reason);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function errors(words: readonly (string | number)[], options: FilterOptions = {}): Promise<Map<string, number>> {
    const { stdout, reason } = await run([caller, ...words.map(String)], { root: { reads: [caller], writes: [] } }, options);
    const found = new Map([...stdout.matchAll(/^(\w+)=(\d+)$/gm)].map(([, word = '', error]) => [word, Number(error)]));
    assert.equal(found.size, words.length, reason);
    return found;
  }

  test('denies each call of the table, and makes those of the future unknown', async () => {
    const numbers = Object.entries(deniedCalls).filter(([, [number]]) => number !== none);
    const found = await errors(numbers.map(([, [number]]) => number));
    for (const [name, [number]] of numbers) assert.equal(found.get(String(number)), 1, `${name}: EPERM`);
    const others = await errors([cloneCalls.clone3[0], 457, 470, 0x40000000 + 39, 39]);
    assert.deepEqual([...others.values()], [38, 38, 38, 38, 0], 'clone3, calls of the future, x32: ENOSYS; getpid works');
  });

  test('lets it make processes, and no namespaces', async () => {
    const flags = { none: 'f0x4000', user: 'f0x10000000', pid: 'f0x20000000', net: 'f0x40000000', mount: 'f0x20000' };
    assert.deepEqual([...(await errors(Object.values(flags))).values()], [0, 1, 1, 1, 1]);
  });

  test('lets a machine use io_uring where an administrator let users choose its options', async () => {
    const [setup] = deniedCalls.io_uring_setup ?? [none];
    assert.notEqual((await errors([setup], { allowsIoUring: true })).get(String(setup)), 1);
  });

  test('its numbers are those of the headers', async (t) => {
    const headers = ['x86_64-linux-gnu/asm/unistd_64.h', 'x86_64-linux-gnu/asm/unistd_32.h', 'asm-generic/unistd.h'];
    for (const [column, header] of headers.entries()) {
      const text = await readFile(`/usr/include/${header}`, 'utf8').catch(() => undefined);
      if (text === undefined) return t.skip(`${header} is not installed`);
      const known = new Map(
        [...text.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)/gm)].map(([, name = '', number]) => [name, Number(number)]),
      );
      for (const [name, numbers] of Object.entries({ ...deniedCalls, ...cloneCalls })) {
        const number = numbers[column as 0 | 1 | 2];
        if (number !== none) assert.equal(known.get(name), number, `${name} in ${header}`);
      }
    }
  });
});
