/**
 * Builds the container image of this checkout: `npm run image -- [--out FILE] [--name NAME:TAG] [--sources FILE]`. Prints its file and digest.
 *
 * Two layers: Debian's packages (packages.txt), installed by mmdebstrap into an empty folder, and the files of Patchbay's Debian package. No
 * registry of images is used. With `SOURCE_DATE_EPOCH` (seconds; default: time of the last commit) two builds of the same sources out of
 * the same packages are equal. `--sources` is a sources.list(5) for mmdebstrap, as one of a dated snapshot of Debian's archive.
 *
 * Needs mmdebstrap and what the Debian package needs; root, or the rights to make user namespaces.
 */
import { type ExecFileOptions, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs, promisify } from 'node:util';
import { imageNames, writeImage } from './archive.ts';

const root = path.resolve(import.meta.dirname, '../..');
const suite = 'bookworm';
/** The number by which packaging/kubernetes runs it. */
const user = 1000;

/** `config` of the image. HOME: Kubernetes sets another, as its root file system is read-only. */
export const containerConfig = {
  User: `${user}:${user}`,
  Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/data'],
  Cmd: ['patchbay', '--host', '0.0.0.0', '--data-dir', '/data', '--stop-nodes'],
  ExposedPorts: { '3080/tcp': {} },
  Volumes: { '/data': {} },
  WorkingDir: '/data',
  StopSignal: 'SIGTERM',
};

/** Commands that mmdebstrap runs in the folder `$1` when the packages are installed. */
const hooks = [
  `chroot "$1" useradd --uid ${user} --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin patchbay`,
  `install -d -o ${user} -g ${user} -m 0750 "$1/data"`,
  // Files of the host that builds.
  'rm -f "$1/etc/hostname" "$1/etc/resolv.conf"',
  // No program of the image may change its user.
  'find "$1" -xdev -type f -perm /6000 -exec chmod ug-s {} +',
];
const leftOut = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/info/*', '/usr/share/locale/*'];

if (process.argv[1] === import.meta.filename) await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: path.join(root, 'dist/patchbay-image.tar') },
      name: { type: 'string', default: 'patchbay:latest' },
      sources: { type: 'string' },
    },
  });
  const file = path.resolve(values.out);
  console.log(`${file} ${await build(file, values)}`);
}

async function build(file: string, { name, sources }: { name: string; sources?: string | undefined }): Promise<string> {
  // Refuses a wrong name before minutes of work.
  imageNames(name);
  const seconds = process.env.SOURCE_DATE_EPOCH ?? (await run('git', ['-C', root, 'log', '-1', '--format=%ct']));
  if (!/^\d{1,12}$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH is not a number of seconds: ${seconds}`);
  const env = { ...process.env, SOURCE_DATE_EPOCH: seconds };
  const stage = await mkdtemp(path.join(tmpdir(), 'patchbay-image-'));
  try {
    const debian = path.join(stage, 'debian.tar');
    await installDebian(debian, sources, env);
    const program = path.join(stage, 'program.tar');
    await unpackProgram(stage, program, env);
    const layers = [
      { tar: debian, comment: `mmdebstrap ${suite}` },
      { tar: program, comment: 'packaging/deb/build.mjs' },
    ];
    const architecture = await run('dpkg', ['--print-architecture']);
    return await writeImage({ file, layers, name, architecture, config: containerConfig, seconds: Number(seconds) });
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function installDebian(tar: string, sources: string | undefined, env: NodeJS.ProcessEnv): Promise<void> {
  const lines = (await readFile(path.join(import.meta.dirname, 'packages.txt'), 'utf8')).split('\n');
  const packages = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const options = [
    '--variant=essential',
    `--include=${packages.join(',')}`,
    '--aptopt=Apt::Install-Recommends "false"',
    ...leftOut.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
    ...hooks.map((hook) => `--customize-hook=${hook}`),
    // Container engines make their own.
    '--skip=output/dev',
  ];
  await run('mmdebstrap', [...options, suite, tar, ...(sources === undefined ? [] : [path.resolve(sources)])], { cwd: root, env });
}

/** Unpacks the files of the Debian package alone: the image runs no services and has its own user. */
async function unpackProgram(stage: string, tar: string, env: NodeJS.ProcessEnv): Promise<void> {
  await run(process.execPath, [path.join(root, 'packaging/deb/build.mjs'), '--compression', 'none', '--out', stage], { env });
  const deb = (await readdir(stage)).find((name) => name.endsWith('.deb')) ?? '';
  const child = spawn('dpkg-deb', ['--fsys-tarfile', path.join(stage, deb)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [[code]] = await Promise.all([once(child, 'exit'), pipeline(child.stdout, createWriteStream(tar))]);
  if (code !== 0) throw new Error(`dpkg-deb --fsys-tarfile ended with ${code}`);
}

/** Standard output, trimmed. @throws with the standard error of a program that failed */
async function run(program: string, args: readonly string[], options: ExecFileOptions = {}): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 64 << 20, ...options, encoding: 'utf8' });
    return stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`${program} is not installed: the image is built on Debian, with mmdebstrap`, { cause: error });
  }
}
