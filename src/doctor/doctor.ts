/** `patchbay doctor`: what of this machine Patchbay can use, which versions, and how to get what is missing. Changes nothing. */
import { access, constants } from 'node:fs/promises';
import { release } from 'node:os';
import { probe } from '../emulators/qemu/acceleration.ts';
import { Binaries } from '../emulators/qemu/binaries.ts';
import { qemuKind } from '../emulators/qemu/kind.ts';
import { hostPlatform } from '../emulators/qemu/platforms.ts';
import type { FabricCapabilities } from '../fabric/protocol.ts';
import { runTool } from '../process/tool.ts';
import type { Finding } from '../schema/finding.ts';
import { version } from '../version.ts';
import { lookAtConfinement } from './confinement.ts';
import { lookAtKernelLinks } from './kernel-links.ts';
import { type Program, programs } from './programs.ts';
import { lookAtRealTime } from './real-time.ts';
import { printFindings } from './report.ts';

/** Node that runs TypeScript directly, with what we use of it. */
const neededNodeMajor = 24;
const versionTimeoutMs = 5000;
const programsAtOnce = 3;

/** Looks at everything at once; the slowest look, the trial of KVM, takes at most two seconds and a little. `fabric`: that of this server. */
export async function doctor(fabric?: { capabilities(): Promise<FabricCapabilities> }): Promise<Finding[]> {
  const binaries = new Binaries();
  const [found, emulators, kvm, kernelLinks, realTime, confinement] = await Promise.all([
    lookAtAll(programs, binaries),
    binaries.list(),
    lookAtKvm(binaries),
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

/** The command. Exit code 1 when something is missing that most projects need. */
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

/** Asks a few programs at a time for their versions: a server's event loop is held for 5 ms by each program that it starts. */
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
  const { stdout, stderr } = await runTool(path, program.versionArgs, { timeoutMs: versionTimeoutMs });
  const text = program.version.exec(`${stdout}\n${stderr}`)?.[1];
  return { state: 'good', what: program.name, found: `${text ?? 'version unknown'} (${path})` };
}

/** Tries KVM anew, whatever a server found out earlier: a device that opens proves nothing. */
async function lookAtKvm(binaries: Binaries): Promise<Finding> {
  const notUsable = (reason: string): Finding => ({
    state: 'note',
    what: 'KVM',
    node_types: [qemuKind.type],
    found: `not usable, guests run without it (TCG): ${reason}`,
  });
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
