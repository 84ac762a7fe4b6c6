/**
 * Builds a Debian package of this checkout: `npm run package -- [--out FOLDER] [--compression zstd|xz|none]`. Prints its path.
 *
 * It holds the server with its npm packages, the Node that runs it and the built page, a systemd unit with a user of its own, and
 * `/usr/bin/patchbay`. Nothing is downloaded, neither now nor when it is installed. Needs `dpkg-deb` and npm. With `SOURCE_DATE_EPOCH`
 * (seconds) two builds of the same sources are equal; the time of the last commit is the default.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const home = '/usr/lib/patchbay';
const { values } = parseArgs({
  options: { out: { type: 'string', default: path.join(root, 'dist') }, compression: { type: 'string', default: 'zstd' } },
});
console.log(await build(path.resolve(values.out), values.compression));

async function build(out, compression) {
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const architecture = await run('dpkg', ['--print-architecture']);
  const stage = await mkdtemp(path.join(tmpdir(), 'patchbay-deb-'));
  try {
    await chmod(stage, 0o755);
    await copyProgram(path.join(stage, home));
    await copySystemFiles(stage);
    await writeControl(stage, { version, architecture });
    await mkdir(out, { recursive: true });
    const file = path.join(out, `patchbay_${version}_${architecture}.deb`);
    const env = { ...process.env, SOURCE_DATE_EPOCH: process.env.SOURCE_DATE_EPOCH ?? (await lastCommit()) };
    await run('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', stage, file], { env });
    return file;
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Copies the files that `npm pack` packs, with the dependencies of the package. */
async function copyProgram(folder) {
  await mkdir(folder, { recursive: true });
  const packed = await run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', folder], { cwd: root });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  const archive = path.join(folder, filename);
  await run('tar', ['-xzf', archive, '--strip-components=1', '-C', folder]);
  await rm(archive);
  for (const file of ['package-lock.json', '.npmrc']) await cp(path.join(root, file), path.join(folder, file));
  await copyModules(folder);
  // Files keep the mode of the checkout; what the umask of its owner took away is needed by the server's user.
  await run('chmod', ['-R', 'u=rwX,go=rX', folder]);
}

/**
 * The installed packages of the lock file that are not for development alone: `npm run package` has compared versions. Those of other
 * platforms are not installed.
 */
async function copyModules(folder) {
  const { packages } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
  // A package within another one is copied with it.
  const isWhole = (where) => where.lastIndexOf('node_modules/') === 0;
  const places = Object.entries(packages).filter(
    ([where, { dev }]) => isWhole(where) && !dev && existsSync(path.join(root, where)),
  );
  const copy = (files) => run('cp', ['-r', '--parents', '--no-dereference', '--preserve=mode', ...files, folder], { cwd: root });
  await copy(places.map(([where]) => where));
  const programs = await readdir(path.join(root, 'node_modules/.bin'), { withFileTypes: true });
  const links = await Promise.all(
    programs.map(async ({ name }) => ({ name, target: await readlink(path.join(root, 'node_modules/.bin', name)) })),
  );
  const kept = links.filter(({ target }) => existsSync(path.resolve(folder, 'node_modules/.bin', target)));
  await copy(kept.map(({ name }) => `node_modules/.bin/${name}`));
}

async function copySystemFiles(stage) {
  const put = async (file, text, mode = 0o644) => {
    const target = path.join(stage, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
    await chmod(target, mode);
  };
  const systemd = path.join(root, 'packaging/systemd');
  const unit = await readFile(path.join(systemd, 'patchbay.service'), 'utf8');
  const ofPackage = unit.split('\n').filter((line) => !line.startsWith('# Install:') && !line.startsWith('# A clone of'));
  await put('/usr/lib/systemd/system/patchbay.service', ofPackage.join('\n').replaceAll('/opt/patchbay', home));
  await put('/usr/lib/sysusers.d/patchbay.conf', await readFile(path.join(systemd, 'patchbay.sysusers')));
  await put('/etc/patchbay/patchbay.conf', await readFile(path.join(import.meta.dirname, 'patchbay.conf')));
  const bundle = await readFile(path.join(stage, home, '.cache/program/current'), 'utf8');
  const program = `${home}/.cache/program/${bundle}/main.js`;
  await put('/usr/bin/patchbay', `#!/bin/sh\nexec ${home}/node_modules/.bin/node ${program} "$@"\n`, 0o755);
}

async function writeControl(stage, { version, architecture }) {
  const control = path.join(stage, 'DEBIAN');
  await mkdir(control);
  const fields = await readFile(path.join(import.meta.dirname, 'control'), 'utf8');
  const size = (await run('du', ['-sk', '--exclude=DEBIAN', stage])).split('\t')[0];
  await writeFile(
    path.join(control, 'control'),
    fields.replace('@version@', version).replace('@architecture@', architecture).replace('@size@', size),
  );
  await writeFile(path.join(control, 'conffiles'), '/etc/patchbay/patchbay.conf\n');
  for (const script of ['postinst', 'prerm', 'postrm'])
    await cp(path.join(import.meta.dirname, script), path.join(control, script)).then(() =>
      chmod(path.join(control, script), 0o755),
    );
}

/** Seconds since 1970; the time of the build outside of a repository. */
async function lastCommit() {
  return run('git', ['-C', root, 'log', '-1', '--format=%ct']).catch(() => String(Math.floor(Date.now() / 1000)));
}

/** Standard output, trimmed. @throws with the standard error of a program that failed */
async function run(program, args, options = {}) {
  try {
    const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 64 << 20, ...options });
    return stdout.trim();
  } catch (error) {
    throw error.code === 'ENOENT' ? new Error(`${program} is not installed: the package is built on Debian, with npm`) : error;
  }
}
