/**
 * Whether hardware acceleration truly works here. That `/dev/kvm` opens proves nothing: nested and software KVMs exist that start
 * no guest, or only crawl, and QEMU does not fall back. So a tiny guest is run under KVM: a boot sector that counts to four
 * million and then ends QEMU with a known code. A real KVM needs a few tenths of a second, most of it for the firmware; one that
 * emulates each instruction needs many seconds.
 * The verdict is kept for as long as the machine is up (Linux's boot id), in memory and in a file.
 */
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { runTool } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import { hostPlatform } from './platforms.ts';

export interface Verdict {
  readonly usable: boolean;
  /** Explanation for people: what was found out, or decided by configuration. */
  readonly reason: string;
}

/** The guest must have answered within this time. */
const probeLimitMs = 2000;
/** QEMU ends with (value << 1) | 1 when a guest writes to its isa-debug-exit port. */
const exitPort = 0xf4;
const exitValue = 0x10;
const successCode = (exitValue << 1) | 1;

/** Sixteen-bit code at 0x7c00, where a PC's firmware puts a boot sector. */
export function probeSector(): Buffer {
  const sector = Buffer.alloc(512);
  const code = [
    0x66,
    0xb9,
    0x00,
    0x00,
    0x40,
    0x00, // mov ecx, 4194304
    0x66,
    0x49, //                         dec ecx
    0x75,
    0xfc, //                         jnz to the dec
    0xba,
    exitPort,
    0x00, //               mov dx, 0xf4
    0xb0,
    exitValue, //                    mov al, 0x10
    0xee, //                               out dx, al
    0xf4, //                               hlt
  ];
  Buffer.from(code).copy(sector);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

/** Arguments of the probe guest, under the given accelerator. */
export function probeArguments(sectorFile: string, accelerator: 'kvm' | 'tcg'): string[] {
  return [
    ...['-machine', `pc,accel=${accelerator},graphics=off`, '-m', '16', '-nodefaults', '-display', 'none'],
    ...['-device', `isa-debug-exit,iobase=0x${exitPort.toString(16)},iosize=1`],
    ...['-drive', `file=${sectorFile.replaceAll(',', ',,')},format=raw,if=floppy,readonly=on`, '-boot', 'a', '-no-reboot'],
  ];
}

/** Runs the probe guest. */
export async function probe(
  emulator: string,
  accelerator: 'kvm' | 'tcg',
  { limitMs = probeLimitMs, runDirectory = tmpdir() }: { limitMs?: number; runDirectory?: string } = {},
): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-probe-'));
  try {
    const sectorFile = join(folder, 'sector');
    await writeFile(sectorFile, probeSector());
    const started = performance.now();
    // A guest that does not answer would run for ever if this process were killed meanwhile: the kernel ends it then (prctl(2)).
    const args = ['--pdeathsig=KILL', '--', emulator, ...probeArguments(sectorFile, accelerator)];
    const { code, reason } = await runTool('setpriv', args, { timeoutMs: limitMs, runDirectory });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    if (code === successCode) return { usable: true, reason: `a probe guest answered under ${accelerator} in ${seconds} s` };
    return { usable: false, reason: `a probe guest did not answer under ${accelerator}: ${reason}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export class Acceleration {
  readonly #settings: () => Settings;
  readonly #findEmulator: () => Promise<string | undefined>;
  #verdict: Promise<Verdict> | undefined;

  /** `findEmulator` finds the emulator of the host's own architecture. */
  constructor(settings: () => Settings, findEmulator: () => Promise<string | undefined>) {
    this.#settings = settings;
    this.#findEmulator = findEmulator;
  }

  /** Found out once; callers at the same time share the one probe. */
  verdict(): Promise<Verdict> {
    this.#verdict ??= this.#findOut();
    return this.#verdict;
  }

  get #stateFile(): string {
    return join(this.#settings().dataDirectory, 'state', 'acceleration.json');
  }

  async #findOut(): Promise<Verdict> {
    const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
    const kept = bootId === '' ? undefined : await this.#kept(bootId);
    if (kept !== undefined) return kept;
    const verdict = await this.#ask();
    if (bootId !== '') {
      // A verdict that cannot be stored only means that the next server asks again.
      const file = this.#stateFile;
      await mkdir(dirname(file), { recursive: true }).catch(() => {});
      await writeFileAtomic(file, `${JSON.stringify({ boot_id: bootId, ...verdict })}\n`).catch(() => {});
    }
    return verdict;
  }

  async #kept(bootId: string): Promise<Verdict | undefined> {
    try {
      const kept = JSON.parse(String(await readRegularFile(this.#stateFile))) as Partial<Verdict> & { boot_id?: string };
      if (kept.boot_id !== bootId || typeof kept.usable !== 'boolean') return undefined;
      return { usable: kept.usable, reason: String(kept.reason ?? '') };
    } catch {
      return undefined;
    }
  }

  async #ask(): Promise<Verdict> {
    if (process.platform !== 'linux') return { usable: false, reason: 'KVM is a part of Linux' };
    const opens = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
      () => true,
      () => false,
    );
    if (!opens) return { usable: false, reason: '/dev/kvm is not there, or this user may not open it' };
    if (hostPlatform() !== 'x86_64') {
      return {
        usable: false,
        reason: 'there is no probe guest for this architecture: set acceleration = on in [Qemu] if KVM works',
      };
    }
    if (await isSoftwareKvm()) return { usable: false, reason: 'the KVM of this machine (kvm_pvm) runs guests in software' };
    const emulator = await this.#findEmulator();
    if (emulator === undefined) return { usable: false, reason: 'no emulator of the host’s architecture is installed' };
    return probe(emulator, 'kvm', { runDirectory: this.#settings().runtimeDirectory });
  }
}

/** A KVM without the processor's help, known by its kernel module: ordinary guests crawl or stop under it. Saves the probe's time. */
async function isSoftwareKvm(): Promise<boolean> {
  const loaded = async (module: string) => (await stat(`/sys/module/${module}`).catch(() => undefined)) !== undefined;
  return (await loaded('kvm_pvm')) && !(await loaded('kvm_intel')) && !(await loaded('kvm_amd'));
}
