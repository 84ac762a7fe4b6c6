/** The Debian part of set-up: finds missing packages and installs them. */
import { spawn } from 'node:child_process';
import { constants, rmSync } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Package to the program that proves its presence, however it was installed; packages named like their program are omitted. */
const programs = {
  'qemu-system-x86': 'qemu-system-x86_64',
  'qemu-utils': 'qemu-img',
  vpcs: 'vpcs',
  tcpdump: 'tcpdump',
  passt: 'passt',
  socat: 'socat',
  'busybox-static': 'busybox',
  bubblewrap: 'bwrap',
  bzip2: 'bzip2',
  'xz-utils': 'xz',
  iproute2: 'ip',
  'docker.io': 'dockerd',
  'openssh-client': 'ssh',
  'dnsmasq-base': 'dnsmasq',
  'tigervnc-standalone-server': 'Xtigervnc',
  'x11-xserver-utils': 'xsetroot',
  'python3-pytest': 'pytest-3',
  gcc: 'gcc',
  'slurm-client': 'sbatch',
};

/** Packages without a program, with one of their files. */
const files = {
  'fonts-dejavu-core': '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
  'libc6-dev': '/usr/include/stdio.h',
  ovmf: '/usr/share/OVMF/OVMF_CODE_4M.fd',
};

/**
 * Slurm, which some tests skip without. Its packages bring services, of which none is started: tests start the programs themselves. munge's
 * starts at the next boot unless it is disabled; Slurm's have no configuration.
 */
const slurm = new Set(['munge', 'slurmctld', 'slurmd', 'slurm-client']);
/** Packages that tests do without; some distributions lack them. Tests skip without Slurm, and use Chromium in place of its shell. */
const optional = new Map([
  ...[...slurm].map((name) => [name, 'tests that need it are skipped']),
  ['vpcs', 'PCs are not compared with it'],
  ['chromium-headless-shell', 'tests of the page take twice the processor time'],
]);
const servicePolicy = '/usr/sbin/policy-rc.d';

/** tcpdump and others live in folders that are not in an ordinary user's PATH. */
const folders = [...new Set([...(process.env.PATH ?? '').split(path.delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'])];

/** The `packages` whose program is missing. */
export async function missingPackages(packages) {
  const present = await Promise.all(
    packages.map((name) => (files[name] ? findFile(files[name]) : findProgram(programs[name] ?? name))),
  );
  return packages.filter((_, index) => present[index] === undefined);
}

async function findFile(file) {
  return access(file).then(
    () => file,
    () => undefined,
  );
}

async function findProgram(program) {
  for (const folder of folders) {
    const file = path.join(folder, program);
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  return undefined;
}

/** Installs with apt, whose lists are up to date; of optional packages, a failure is only reported. */
export async function installPackages(apt, names) {
  try {
    await installAll(apt, names);
  } catch (error) {
    const missing = await missingPackages(names);
    if (missing.length === 0 || missing.some((name) => !optional.has(name))) throw error;
    const effects = missing.map((name) => `  without ${name}, ${optional.get(name)}`);
    console.error([error.message, ...effects].join('\n'));
  }
}

const installWords = ['install', '-y', '-q', '--no-install-recommends'];

/** Returns apt's path. @throws Error with the one command for a user with root rights, or with the programs where there is no apt */
export async function aptFor(names) {
  const byHand = `apt-get update && apt-get ${[...installWords, ...names].filter((word) => word !== '-q').join(' ')}`;
  const apt = await findProgram('apt-get');
  if (apt === undefined) {
    throw new Error(`These programs are missing and this machine has no apt to install them: ${names.map((name) => programs[name] ?? name).join(', ')}.
On Debian: ${byHand}`);
  }
  if (process.getuid?.() !== 0) {
    throw new Error(`These Debian packages are missing: ${names.join(', ')}. Only root may install them. Run this once:
  sudo sh -c '${byHand}'`);
  }
  return apt;
}

export const updateLists = (apt) => runApt(apt, ['update', '-q'], 'package lists');

async function installAll(apt, names) {
  console.error(`Installing Debian packages: ${names.join(', ')}`);
  // A command with one unknown name fails as a whole.
  const [required, services, rest] = [
    names.filter((name) => !optional.has(name)),
    names.filter((name) => slurm.has(name)),
    names.filter((name) => optional.has(name) && !slurm.has(name)),
  ];
  if (required.length > 0) await runApt(apt, [...installWords, ...required], 'packages');
  const failures = [];
  const keep = (error) => failures.push(error);
  if (services.length > 0)
    await withoutServices(() => runApt(apt, [...installWords, ...services], 'packages with services')).catch(keep);
  if (rest.length > 0) await runApt(apt, [...installWords, ...rest], 'optional packages').catch(keep);
  if (failures.length > 0) throw new Error(failures.map(({ message }) => message).join('\n'));
  const missing = await missingPackages(names);
  if (missing.length > 0) throw new Error(`apt-get succeeded, but these are still missing: ${missing.join(', ')}`);
}

/** A policy of this machine, where there is one, stays as it is. Source: invoke-rc.d(8) */
async function withoutServices(install) {
  const isOurs = await writeFile(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' }).then(
    () => true,
    () => false,
  );
  const remove = () => {
    if (isOurs) rmSync(servicePolicy, { force: true });
  };
  // Left behind, it would keep all services of this machine from starting.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const end = () => {
    remove();
    process.exit(1);
  };
  for (const signal of signals) process.once(signal, end);
  try {
    await install();
  } finally {
    for (const signal of signals) process.off(signal, end);
    remove();
  }
}

/** Prints a line for each package as it arrives; on failure, all output of apt. */
async function runApt(apt, args, what) {
  const began = Date.now();
  const child = spawn(apt, ['-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const follow = (text) => {
    output += text;
    for (const line of text.split('\n')) {
      if (/^(Setting up|E:)/.test(line)) console.error(`  ${line.trim()}`);
    }
  };
  child.stdout.setEncoding('utf8').on('data', follow);
  child.stderr.setEncoding('utf8').on('data', follow);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0)
    throw new Error(`apt-get ${args[0]} failed with code ${code}:\n${output.trim().split('\n').slice(-20).join('\n')}`);
  console.error(`  ${what}: done in ${((Date.now() - began) / 1000).toFixed(1)} s`);
}
