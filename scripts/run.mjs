/**
 * Entry of the npm scripts: `node scripts/run.mjs COMMAND [arguments]` installs missing prerequisites of the command, then runs it.
 * Uses plain JavaScript and Node's own modules only: on a fresh machine this runs on the installed Node (20 or newer), before
 * npm installs anything; the command itself then runs on the Node 24 that npm installed.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { aptFor, installPackages, missingPackages, updateLists } from './setup-debian.mjs';
import { handOver, installedNode, modulesMatch, npmCi } from './setup-npm.mjs';

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');

const emulators = ['qemu-system-x86', 'qemu-utils', 'socat', 'iproute2', 'tcpdump', 'bubblewrap'];
const forTests = [
  'vpcs',
  'passt',
  'iptables',
  'busybox-static',
  'docker.io',
  'openssh-client',
  'dnsmasq-base',
  'docker-registry',
  'tigervnc-standalone-server',
  'x11-xserver-utils',
  'python3-pytest',
  'bzip2',
  'xz-utils',
  'swtpm',
  'ovmf',
  'mtools',
  'openssl',
  'gcc',
  'libc6-dev',
  'chromium',
  'chromium-headless-shell',
  'fonts-dejavu-core',
  'munge',
  'slurmctld',
  'slurmd',
  'slurm-client',
];
/**
 * The commands of npm: the script of each, or none if it runs the bundled program; whether it needs the page of `web/`; its Debian
 * packages; and a script that makes files which it would otherwise make itself. `doctor` and `start` report missing packages themselves.
 */
const commands = {
  start: { packages: [], production: true, page: 'build' },
  dev: { script: ['--watch', '--watch-preserve-output', 'src/main.ts'], packages: [], page: 'watch' },
  demo: { script: ['demo/main.ts'], packages: [...emulators, 'mtools'], page: 'build', prepare: 'demo/guest/prepare.ts' },
  test: { script: ['scripts/test.mjs'], packages: [...emulators, ...forTests], page: 'build' },
  shots: { script: ['scripts/shots.mjs'], packages: [...emulators, 'chromium', 'fonts-dejavu-core'], page: 'build' },
  conformance: { script: ['scripts/test.mjs', 'test/conformance/*.test.ts'], packages: emulators },
  fuzz: { script: ['scripts/fuzz.mjs'], packages: emulators },
  package: { script: ['packaging/deb/build.mjs'], packages: [] },
  image: { script: ['packaging/oci/build.ts'], packages: ['mmdebstrap'] },
  check: { script: ['scripts/check.mjs'], packages: [] },
  doctor: { script: ['src/main.ts', 'doctor'], packages: [], production: true },
  bench: { script: ['bench/main.ts'], packages: [...emulators, 'chromium', 'fonts-dejavu-core'], page: 'build' },
};

const [name = '', ...args] = process.argv.slice(2);
const command = commands[name];
if (!command) {
  console.error(`Usage: npm run ${Object.keys(commands).join('|')} [-- arguments]`);
  process.exit(2);
}
process.chdir(root);
let program = path.join(root, 'src/main.ts');
try {
  await setUp(command);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
handOver(installedNode(root), [...(command.script ?? [program]), ...args], { ...process.env, PATCHBAY_PROGRAM: program });

/** Installs from npm and Debian side by side; what npm has brought is worked with while Debian's packages are still installed. */
async function setUp({ packages, production, page, prepare }) {
  // `--help` must not install packages.
  const help = args.includes('--help');
  const missing = help ? [] : await missingPackages(packages);
  const apt = missing.length > 0 ? await aptFor(missing) : undefined;
  const modules = (await modulesMatch(root, { production: production === true })) ? undefined : npmCi(root);
  const lists = apt && updateLists(apt);
  const installed = lists?.then(() => installPackages(apt, missing));
  const made = Promise.all([modules, lists]).then(() => !help && allOf([page && buildProgram(page), prepare && build(prepare)]));
  await allOf([modules, installed, made]);
}

/** Waits for all, so that nothing continues behind an error. @throws the first error */
async function allOf(works) {
  const outcomes = await Promise.allSettled(works);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

async function buildProgram(page) {
  const [isBuilt, bundled] = await Promise.all([
    build('scripts/build-page.mjs'),
    page === 'build' && build('scripts/bundle-program.mjs'),
  ]);
  if (isBuilt === undefined) console.error('The page for browsers could not be built (see above): only the API is served');
  if (page === 'watch') spawn(installedNode(root), ['scripts/build-page.mjs', '--watch'], { stdio: ['ignore', 2, 2] });
  // The program runs from its sources when there is no bundle.
  program = bundled || program;
}

/** Runs the script in a process of its own, on the Node that npm installed. @returns its output; undefined when it failed */
function build(script) {
  return new Promise((resolve) => {
    const child = spawn(installedNode(root), [script], { stdio: ['ignore', 'pipe', 2] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    child.on('error', () => resolve(undefined));
    child.on('close', (status) => resolve(status === 0 ? printed.trim() : undefined));
  });
}
