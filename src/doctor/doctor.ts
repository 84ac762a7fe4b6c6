/**
 * `patchbay doctor`: lists what Patchbay can use on this machine, the versions, and how to install missing parts. Changes nothing.
 */
import { access, constants } from 'node:fs/promises';
import { availableParallelism, release } from 'node:os';
import { trialNamespace, tryLinkNamespace } from '../emulators/host/link-namespace.ts';
import { probe } from '../emulators/qemu/acceleration.ts';
import { Binaries } from '../emulators/qemu/binaries.ts';
import { qemuKind } from '../emulators/qemu/kind.ts';
import { hostPlatform } from '../emulators/qemu/platforms.ts';
import { probeCapabilities } from '../fabric/client.ts';
import type { FabricCapabilities } from '../fabric/protocol.ts';
import { runTool } from '../process/tool.ts';
import type { Finding } from '../schema/finding.ts';
import type { Settings } from '../schema/settings.ts';
import { version } from '../version.ts';
import { lookAtConfinement } from './confinement.ts';
import { type Program, programs } from './programs.ts';

/** First Node version that runs TypeScript directly, with the features we use. */
const neededNodeMajor = 24;
const toolTimeoutMs = 5000;
const programsAtOnce = 3;

/** Parts of a running server that the doctor asks in place of the machine. */
interface DoctorOfServer {
  readonly fabric: { capabilities(): Promise<FabricCapabilities> };
  readonly settings: Pick<Settings, 'Qemu'>;
}

/** Examines everything at once; the slowest part, the trial of KVM, takes little more than two seconds. */
export async function doctor({ fabric, settings }: Partial<DoctorOfServer> = {}): Promise<Finding[]> {
  const binaries = new Binaries();
  const [found, emulators, kvm, kernelLinks, realTime, confinement] = await Promise.all([
    lookAtAll(programs, binaries),
    binaries.list(),
    lookAtKvm(binaries, settings?.Qemu),
    lookAtKernelLinks(fabric && (() => fabric.capabilities())),
    lookAtRealTime(),
    binaries.inPath(`qemu-system-${hostPlatform()}`).then(lookAtConfinement),
  ]);
  const others = emulators.filter(({ path }) => !path.endsWith('/qemu-system-x86_64'));
  return [
    lookAtNode(),
    { state: 'good', what: 'kernel', found: `${process.platform} ${release()} ${process.arch}` },
    ...found,
    ...others.map(
      ({ path, version: text }): Finding => ({
        state: 'good',
        what: path.slice(path.lastIndexOf('/') + 1),
        found: `${text} (${path})`,
      }),
    ),
    kvm,
    ...kernelLinks,
    realTime,
    ...confinement,
  ];
}

/** Runs the command. Returns exit code 1 when something is missing that most projects need. */
export async function runDoctor(argv: readonly string[]): Promise<number> {
  if (argv.some((arg) => arg !== '--json')) {
    process.stdout.write('Usage: patchbay doctor [--json]\n');
    return argv.includes('--help') ? 0 : 2;
  }
  const findings = await doctor();
  process.stdout.write(
    argv.includes('--json') ? `${JSON.stringify(findings, null, 2)}\n` : printFindings(`Patchbay ${version}`, findings),
  );
  return findings.some(({ state }) => state === 'missing') ? 1 : 0;
}

function lookAtNode(): Finding {
  const good = Number(process.versions.node.split('.')[0]) >= neededNodeMajor;
  const place = `${process.versions.node} (${process.execPath})`;
  return good
    ? { state: 'good', what: 'node', found: place }
    : { state: 'missing', what: 'node', found: `${place} is too old: start through npm, which brings Node ${neededNodeMajor}` };
}

/** Finds the programs' versions, a few at a time: each program that a server starts blocks its event loop for 5 ms. */
async function lookAtAll(all: readonly Program[], binaries: Binaries): Promise<Finding[]> {
  const findings: Finding[] = [];
  const waiting = [...all.entries()];
  const next = async (): Promise<void> => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) findings[entry[0]] = await lookAt(entry[1], binaries);
  };
  await Promise.all(Array.from({ length: programsAtOnce }, next));
  return findings;
}

async function lookAt(program: Program, binaries: Binaries): Promise<Finding> {
  const path = await binaries.inPath(program.name);
  if (path === undefined) {
    return {
      state: program.optional ? 'note' : 'missing',
      what: program.name,
      found: `not found: needed for ${program.for}${program.source === undefined ? '' : `. ${program.source}`}`,
      ...(program.package !== undefined && { package: program.package }),
      ...(program.nodeTypes && { node_types: [...program.nodeTypes], required: true }),
    };
  }
  const { stdout, stderr } = await runTool(path, program.versionArgs, { timeoutMs: toolTimeoutMs });
  const text = program.version.exec(`${stdout}\n${stderr}`)?.[1];
  return { state: 'good', what: program.name, found: `${text ?? 'version unknown'} (${path})` };
}

/**
 * Tries KVM with a guest, regardless of a server's earlier result: a device that opens proves nothing. A server that is not to use KVM does
 * not try it: where it does not work, the trial takes a second of processor time.
 */
export async function lookAtKvm(binaries: Pick<Binaries, 'inPath'>, settings?: Settings['Qemu']): Promise<Finding> {
  const notUsable = (reason: string): Finding => ({
    state: 'note',
    what: 'KVM',
    node_types: [qemuKind.type],
    found: `not usable, guests run without it (TCG): ${reason}`,
  });
  if (settings?.enable_hardware_acceleration === false) return notUsable('enable_hardware_acceleration = False in [Qemu]');
  if (settings?.acceleration === 'off') return notUsable('acceleration = off in [Qemu]');
  const denied = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  if (denied === 'EACCES') return notUsable('/dev/kvm is not open to this user: add the user to the group kvm');
  if (denied !== undefined) return notUsable('this machine has no /dev/kvm');
  const platform = hostPlatform();
  const emulator = await binaries.inPath(`qemu-system-${platform}`);
  if (emulator === undefined) return notUsable(`qemu-system-${platform} is not installed, so it cannot be tried`);
  if (platform !== 'x86_64')
    return notUsable('there is no probe guest for this architecture: set acceleration = on in [Qemu] if KVM works');
  const { usable, reason } = await probe(emulator, 'kvm');
  return usable ? { state: 'good', what: 'KVM', found: reason } : notUsable(reason);
}

/**
 * Finds whether the kernel can carry links of containers and of machines. `ask`: queries a running fabric; starting another one
 * takes half a second of processor time.
 */
async function lookAtKernelLinks(ask?: () => Promise<FabricCapabilities>): Promise<Finding[]> {
  const capabilities = (await ask?.().catch(() => undefined)) ?? (await probeCapabilities());
  return [linksOfContainers(capabilities), await linksOfMachines(capabilities)];
}

function linksOfContainers({ kernelObstacle }: FabricCapabilities): Finding {
  const what = 'links of containers';
  if (kernelObstacle === null) {
    return {
      state: 'good',
      what,
      found: 'carried by the kernel while they have no filter and no capture, otherwise by the fabric',
    };
  }
  return { state: 'note', what, found: `carried by the fabric, which is slower: ${kernelObstacle}` };
}

/** Examines the links of machines; in a namespace of this user, unless the server has one. */
async function linksOfMachines({ linkObstacle }: FabricCapabilities): Promise<Finding> {
  const what = 'links of QEMU machines';
  const inNamespace = async () => (await tryLinkNamespace()) ?? (await probeCapabilities(trialNamespace)).kernelObstacle;
  const obstacle = linkObstacle && (await inNamespace());
  return obstacle === null
    ? { state: 'good', what, found: 'TAP interfaces, carried by the kernel while they have no filter and no capture' }
    : { state: 'note', what, found: `stream sockets, which are slower than TAP interfaces: ${obstacle}` };
}

/**
 * Tries the fabric's real-time policy (`fabric/control/priority.ts`) as the same user. @see chrt(1), sched(7): CAP_SYS_NICE, or
 * RLIMIT_RTPRIO of 1
 */
async function lookAtRealTime(): Promise<Finding> {
  const what = 'real time';
  const without = (reason: string): Finding => ({
    state: 'note',
    what,
    found: `not used, frames may be some milliseconds late on a busy host: ${reason}`,
  });
  if (availableParallelism() < 2) return without('this host has one CPU, and emulators need it too');
  const { code, reason } = await runTool('chrt', ['--rr', '1', 'true'], { timeoutMs: toolTimeoutMs });
  if (code === 0) return { state: 'good', what, found: 'the fabric takes a CPU as soon as frames arrive' };
  return without(`permit it by LimitRTPRIO=1 in a unit of systemd, or "ulimit -r 1" (${reason.split('\n')[0]})`);
}

const marks = { good: '✔', note: '•', missing: '✖' } as const;

/** Formats the findings for users: one line each, and one command that installs the missing packages. */
export function printFindings(title: string, findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ what }) => what.length));
  const lines = findings.map(({ state, what, found }) => `  ${marks[state]} ${what.padEnd(width)}  ${found}`);
  const packages = [...new Set(findings.flatMap((finding) => finding.package ?? []))];
  const advice =
    packages.length > 0
      ? [
          `\nTo get what is not there, as root:\n  apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`,
        ]
      : ['\nEverything is there.'];
  return `${[title, ...lines, ...advice].join('\n')}\n`;
}
