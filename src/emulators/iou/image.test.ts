/** Images that a client uploads are code of an attacker: none of it may run, be loaded or be linked before the image is confined. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Fault } from '../../api/faults.ts';
import { runTool } from '../../process/tool.ts';
import { defaultSettings } from '../../schema/settings.ts';
import { findProgram } from '../host/find-program.ts';
import { findRunAs } from '../host/run-as.ts';
import { readElf } from './elf.ts';
import { checkImage } from './image.ts';

const compileLimitMs = 60_000;
const skip =
  (process.platform !== 'linux' || process.arch !== 'x64' ? 'IOU images are for Linux on x86_64' : undefined) ??
  ((await findProgram('gcc')) === undefined ? 'gcc is not installed' : false);

describe('an IOU image that names code to load', { skip }, () => {
  let folder: string;
  let canaries: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-image-'));
    canaries = await mkdtemp(join(tmpdir(), 'pb-canary-'));
    await chmod(folder, 0o755);
    await chmod(canaries, 0o777);
  });
  after(async () => {
    for (const path of [folder, canaries]) await rm(path, { recursive: true, force: true });
  });

  /** Compiles a program whose constructors, and whose functions of an audit library, leave a file. @returns its path */
  async function build(name: string, options: readonly string[], extra = ''): Promise<string> {
    const source = join(folder, `${name}.c`);
    const path = join(folder, name);
    await writeFile(
      source,
      `#include <fcntl.h>
#include <unistd.h>
static void leave(const char *path) { close(open(path, O_CREAT | O_WRONLY, 0666)); }
__attribute__((constructor)) void begin(void) { leave("${join(canaries, name)}"); }
unsigned la_version(unsigned version) { leave("${join(canaries, `${name}-audit`)}"); return version; }
${extra}
`,
    );
    const { code, reason } = await runTool('gcc', ['-O1', '-o', path, source, ...options], { timeoutMs: compileLimitMs });
    assert.equal(code, 0, reason);
    await chmod(path, 0o755);
    return path;
  }

  const main = 'int main(void) { return 0; }';
  const check = async (path: string) => checkImage(path, await findRunAs(defaultSettings()));
  /** @returns what the refusal says */
  async function refusalOf(path: string): Promise<string> {
    const error = await check(path).then(
      () => assert.fail(`${path} was not refused`),
      (cause: unknown) => cause,
    );
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, 'iou_failed');
    return error.message;
  }

  test('none of its code runs while it is checked, and the refusal names the tag', async () => {
    const at = (name: string) => join(folder, name);
    const shared = ['-shared', '-fPIC', '-Wl,-soname,'];
    await build('plugin.so', [...shared.slice(0, 2)]);
    const loaded = ['-Wl,--no-as-needed', at('plugin.so')];
    const program = (name: string) => ['-fPIC', '-pie', '-rdynamic', `-Wl,-z,lazy`, ...optionsOf(name)];
    const optionsOf = (name: string): string[] => {
      if (name === 'audit') return [`-Wl,--audit=${at(name)}`];
      if (name === 'depaudit') return [`-Wl,--depaudit=${at(name)}`];
      if (name === 'rpath') return ['-Wl,--disable-new-dtags', `-Wl,-rpath,${folder}`];
      if (name === 'runpath') return ['-Wl,--enable-new-dtags', `-Wl,-rpath,${folder}`];
      if (name === 'own-linker') return [`-Wl,--dynamic-linker=${at('plugin.so')}`];
      return loaded;
    };
    const cases: [name: string, says: RegExp][] = [
      ['audit', /DT_AUDIT/],
      ['depaudit', /DT_DEPAUDIT/],
      ['rpath', /DT_RPATH/],
      ['runpath', /DT_RUNPATH/],
      ['needed-path', /DT_NEEDED.*plugin\.so/],
      ['own-linker', /unknown dynamic linker .*plugin\.so/],
    ];
    for (const [name, says] of cases) {
      const path = await build(name, program(name), main);
      assert.match(await refusalOf(path), says, name);
    }
    for (const [name, option, says] of [
      ['filter', '-Wl,-F,libc.so.6', /DT_FILTER/],
      ['auxiliary', '-Wl,-f,libc.so.6', /DT_AUXILIARY/],
    ] as const) {
      const path = await build(name, ['-shared', '-fPIC', option, '-Wl,-e,main'], main);
      assert.match(await refusalOf(path), says, name);
    }
    assert.deepEqual(await readdir(canaries), [], 'code of an image ran');
  });

  test('a library that is not on the list is refused by its name, although the host has it', async () => {
    const library = await build('libother.so.1', ['-shared', '-fPIC', '-Wl,-soname,libother.so.1']);
    const path = await build('other', ['-Wl,--no-as-needed', library], main);
    assert.match(await refusalOf(path), /needs the library libother\.so\.1, which is not one of those that images may load/);
  });

  test("the libraries of an honest image are those of the host's own directories", async () => {
    const path = await build('honest', ['-pie', '-Wl,--no-as-needed', '-lm'], main);
    const { libraries } = await check(path);
    assert.match(libraries.join(' '), /^\/lib64\/ld-linux-x86-64\.so\.2 /);
    for (const name of ['libc.so.6', 'libm.so.6'])
      assert.ok(
        libraries.some((library) => /^\/(usr\/)?lib/.test(library) && library.endsWith(`/${name}`)),
        `${name} in ${libraries.join(', ')}`,
      );
    const bare = await build('static', ['-static'], main);
    assert.deepEqual((await check(bare)).libraries, []);
    assert.deepEqual(await readdir(canaries), []);
  });
});

const tags = { null: 0n, needed: 1n, strtab: 5n, strsz: 10n } as const;

/** An ELF program of one page whose dynamic section has these entries; its names begin at offset 2048. */
function program(entries: readonly (readonly [tag: bigint, value: bigint])[], names = 'libc.so.6\0'): Buffer {
  const file = Buffer.alloc(4096);
  file.write('\x7fELF\x02\x01\x01', 0, 'latin1');
  file.writeUInt16LE(3, 16);
  file.writeUInt16LE(62, 18);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(56, 54);
  const headers: [type: number, offset: number, bytes: number][] = [
    [1, 0, 4096],
    [3, 1024, 28],
    [2, 1200, (entries.length + 1) * 16],
  ];
  file.writeUInt16LE(headers.length, 56);
  headers.forEach(([type, offset, bytes], index) => {
    const at = 64 + index * 56;
    file.writeUInt32LE(type, at);
    for (const field of [8, 16]) file.writeBigUInt64LE(BigInt(offset), at + field);
    for (const field of [32, 40]) file.writeBigUInt64LE(BigInt(bytes), at + field);
  });
  file.write('/lib64/ld-linux-x86-64.so.2\0', 1024);
  entries.forEach(([tag, value], index) => {
    file.writeBigUInt64LE(tag, 1200 + index * 16);
    file.writeBigUInt64LE(value, 1208 + index * 16);
  });
  file.write(names, 2048, 'latin1');
  return file;
}
const named = [
  [tags.strtab, 2048n],
  [tags.strsz, 2048n],
] as const;

describe('ELF facts', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pb-elf-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function read(content: Buffer) {
    const path = join(folder, 'image');
    await writeFile(path, content);
    return readElf(path);
  }

  test('machine, dynamic linker, names of libraries, tags that load other code', async () => {
    const facts = await read(program([[tags.needed, 0n], ...named, [0x6ffffefcn, 0n], [0x7fffffffn, 0n], [0x6abcn, 0n]]));
    assert.deepEqual(facts, {
      machine: 'x86_64',
      interpreter: '/lib64/ld-linux-x86-64.so.2',
      needed: ['libc.so.6'],
      foreign: ['DT_AUDIT', 'DT_FILTER', '0x6abc'],
    });
  });

  test('what contradicts itself or has no end is damaged, and nothing of it is read far', async () => {
    const needed = [tags.needed, 0n] as const;
    const twice = program([needed, ...named]);
    twice.writeUInt32LE(2, 64);
    const noTable = program([needed, [tags.strsz, 10n]]);
    const outside = program([needed, [tags.strtab, 1n << 62n], [tags.strsz, 10n]]);
    const beyond = program([[tags.needed, 1n << 40n], ...named]);
    const endless = program([needed, ...named], 'x'.repeat(2000));
    const many = program([...Array.from({ length: 40 }, () => needed), ...named]);
    many.writeBigUInt64LE(1n << 40n, 64 + 2 * 56 + 32);
    const headers = program([]);
    headers.writeUInt16LE(65_535, 56);
    for (const [what, content] of Object.entries({ twice, noTable, outside, beyond, endless, many, headers }))
      assert.match(String(await read(content)), /damaged/, what);
  });

  test('no cut and no changed byte of it makes it fail otherwise', async () => {
    const whole = program([[tags.needed, 0n], ...named]);
    for (let length = 0; length < 2100; length += 37) await read(whole.subarray(0, length));
    for (let at = 0; at < 1300; at += 5) {
      const content = Buffer.from(whole);
      content[at] = 0xff ^ (content[at] ?? 0);
      const facts = await read(content);
      assert.ok(typeof facts === 'string' || facts.needed.length <= 64, String(at));
    }
  });
});
