/**
 * A running machine. It ends in one of four ways: asked to (`stop`), by its guest, by a failure of QEMU, or by us when QEMU
 * reports an internal error, after which the process stays but never runs its guest again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from '../../api/faults.ts';
import type { PortSpec } from '../../fabric/protocol.ts';
import type { Child, Outcome } from '../../process/child.ts';
import type { ConsoleSource, Departure, Emulator, Ending, MemorySaver, NodeView, Properties, ScreenSource } from '../driver.ts';
import { removeDiskCopies } from '../host/disk-copies.ts';
import { cardNames, netdevId } from './adapters.ts';
import { DiskCopies, endDiskCopies } from './copy/copy-disks.ts';
import { savedStateName } from './disks.ts';
import { isRunningState, type Monitor, type MonitorListener } from './monitor.ts';
import { asQemu, type QemuProperties } from './properties.ts';
import type { QemuRecord } from './record.ts';
import type { Throttle } from './throttle.ts';

/** Time limits of the ways to start and end a machine, ms. */
export interface Limits {
  /** Limit from the start of the process to QEMU's first answer; restoring a saved state is part of it. */
  readonly startMs: number;
  /** Limit for the guest to follow the power button. */
  readonly shutdownMs: number;
  /** Limit for a state to be saved. */
  readonly saveMs: number;
  /** Limit for QEMU to end when asked to; after that it is killed. */
  readonly quitMs: number;
}
export const standardLimits: Limits = { startMs: 60_000, shutdownMs: 120_000, saveMs: 120_000, quitMs: 3000 };

interface QemuEmulatorParts {
  readonly node: NodeView;
  readonly child: Child;
  readonly record: QemuRecord;
  readonly throttle: Throttle;
  readonly tpm: Child | undefined;
  readonly limits: Limits;
  readonly places: { readonly serial: string; readonly screen: string; readonly consoleLog: string };
  /** The absolute path of a CD-ROM image. */
  resolveImage(reference: string): Promise<string>;
  /** Takes what the guest wrote to its config disk; called once, when it has ended. Never rejects. */
  exportConfig(): Promise<void>;
  prepareSaving(monitor: Monitor, folder: string, suspended: boolean): Promise<MemorySaver | string>;
  prepareDeparture(monitor: Monitor): Promise<Departure | string>;
  /** Gives back what the machine took; called once, when it has ended. Never rejects. */
  freed(): Promise<void>;
}

/** A machine that continues from memory: until `runRestored` it is paused, and its memory is there. */
interface RestoredMachine {
  /** The machine stays suspended after it was restored. */
  readonly suspended: boolean;
  /** Called before its guest runs. */
  readonly discard: () => Promise<void>;
}

export class QemuEmulator implements Emulator, MonitorListener {
  readonly ended: Promise<Ending>;
  readonly #parts: QemuEmulatorParts;
  readonly #listeners: ((state: 'started' | 'suspended') => void)[] = [];
  #monitor: Monitor | undefined;
  #properties: QemuProperties;
  /** Names of cards by their backends, once they were asked for. */
  #cards: ReadonlyMap<string, string> | undefined;
  #state: 'started' | 'suspended' = 'started';
  /** We asked it to end. */
  #isStopping = false;
  /** QEMU said that the machine ended by its guest's or another client's wish. */
  #hasShutDown = false;
  /** Restored from memory: paused until its links are connected. */
  #awaitsLinks = false;
  #discardMemory: RestoredMachine['discard'] | undefined;
  readonly #copies = new DiskCopies();
  /** Commands of ours that change the state are under way: their events are not news. */
  #busy = 0;
  #failure = '';
  #hasEnded = false;

  constructor(parts: QemuEmulatorParts) {
    this.#parts = parts;
    this.#properties = asQemu(parts.node.properties);
    const { directory } = parts.node;
    this.ended = parts.child.outcome.then(async (outcome) => {
      this.#hasEnded = true;
      this.#monitor?.close();
      await Promise.all([
        parts.throttle.stop(),
        parts.tpm?.stop({ graceMs: 1000 }),
        parts.exportConfig(),
        removeDiskCopies(directory),
      ]);
      await parts.freed();
      return this.#endingOf(outcome);
    });
  }

  get record(): Readonly<Record<string, unknown>> {
    // The throttle of an adopted record may be stale: the current one replaces it.
    const { throttle: _, ...lasting } = this.#parts.record;
    const throttle = this.#parts.throttle.record;
    return { ...lasting, ...(throttle && { throttle }) };
  }

  get commandLine(): string {
    return this.#parts.record.commandLine;
  }

  get state(): 'started' | 'suspended' {
    return this.#state;
  }

  /** Takes over the monitor. To be called once, before anything is asked of the machine. `restored`: it continues from memory. */
  async attach(monitor: Monitor, restored?: RestoredMachine): Promise<void> {
    this.#monitor = monitor;
    this.#awaitsLinks = restored !== undefined && !restored.suspended;
    this.#discardMemory = restored?.discard;
    this.status(await monitor.status());
  }

  async runRestored(connect?: () => Promise<void>): Promise<void> {
    await this.#discardRestored();
    if (!this.#awaitsLinks) return;
    await connect?.();
    // QEMU's main loop accepts connections before it answers.
    await this.#monitor?.status();
    if (this.#awaitsLinks) await this.#changeState('started', (monitor) => monitor.execute('cont'));
  }

  onState(listener: (state: 'started' | 'suspended') => void): void {
    this.#listeners.push(listener);
  }

  suspend(): Promise<void> {
    return this.#changeState('suspended', (monitor) => monitor.execute('stop'));
  }

  resume(): Promise<void> {
    return this.#changeState('started', async (monitor) => {
      // A guest that sleeps (ACPI S3) wakes up; one that was stopped continues.
      await monitor.execute((await monitor.status()) === 'suspended' ? 'system_wakeup' : 'cont');
    });
  }

  async reset(): Promise<boolean> {
    await this.#changeState('started', async (monitor) => {
      await monitor.execute('system_reset');
      await monitor.execute('cont');
    });
    return true;
  }

  async stop({ now = false }: { now?: boolean } = {}): Promise<void> {
    const { on_close } = this.#properties;
    if (this.#hasEnded) {
      await this.ended;
      return;
    }
    this.#isStopping = true;
    this.#busy += 1;
    if (!now && on_close === 'shutdown_signal' && (await this.#shutDown())) return;
    if (!now && on_close === 'save_vm_state') await this.#saveState();
    await this.#quit();
  }

  port(adapter: number): PortSpec | undefined {
    return this.#parts.record.ports[adapter];
  }

  async setCarrier(adapter: number, up: boolean): Promise<void> {
    if (!this.#properties.replicate_network_connection_state || this.port(adapter) === undefined) return;
    const monitor = this.#monitor;
    if (!monitor) return;
    this.#cards ??= cardNames(String(await monitor.execute('human-monitor-command', { 'command-line': 'info network' })));
    const backend = netdevId(adapter);
    await monitor.execute('set_link', { name: this.#cards.get(backend) ?? backend, up });
  }

  console(): ConsoleSource | ScreenSource | undefined {
    const { places, record } = this.#parts;
    if (record.hasScreenSocket) return { type: 'screen', path: places.screen };
    return record.hasSerialConsole ? { type: 'unix', path: places.serial, log: places.consoleLog } : undefined;
  }

  async saveMemory(folder: string): Promise<MemorySaver | string> {
    const monitor = this.#monitor;
    if (!monitor) return 'QEMU does not answer';
    const saver = await this.#parts.prepareSaving(monitor, folder, this.#state === 'suspended');
    if (typeof saver === 'string') return saver;
    return { ...saver, transfer: () => this.#copies.without(monitor, () => saver.transfer()) };
  }

  /** Prepares a move. State changes during the move are not reported; a machine that stays returns to `started`. */
  async depart(): Promise<Departure | string> {
    const monitor = this.#monitor;
    if (!monitor) return 'QEMU does not answer';
    const departure = await this.#copies.without(monitor, () => this.#parts.prepareDeparture(monitor));
    if (typeof departure === 'string') return departure;
    this.#busy += 1;
    const abort = async () => {
      await departure.abort();
      this.#state = 'started';
      this.#busy -= 1;
    };
    return { ...movingVerbs(departure), abort };
  }

  async copyDisks(): Promise<ReadonlyMap<string, string>> {
    if (!this.#monitor || this.#busy > 0) throw fault('qemu_failed', { reason: 'QEMU is busy' });
    return this.#copies.make(this.#monitor, this.#parts.node);
  }

  async changed(properties: Properties): Promise<void> {
    const before = this.#properties;
    const now = asQemu(properties);
    this.#properties = now;
    if (now.cdrom_image !== before.cdrom_image) await this.#changeCdrom(now.cdrom_image);
    if (now.cpu_throttling !== before.cpu_throttling && !(await this.#parts.throttle.set(now.cpu_throttling))) {
      this.#warn('the processor limit was not set: install cpulimit');
    }
  }

  release(): void {
    const { child, throttle, tpm } = this.#parts;
    this.#monitor?.close();
    child.release();
    throttle.release();
    tpm?.release();
  }

  status(status: string): void {
    if (status === 'internal-error') this.#fail('QEMU reported an internal error and cannot run this guest any further');
    if (status === 'internal-error' || this.#busy > 0 || this.#awaitsLinks) return;
    const state = isRunningState(status) ? 'started' : 'suspended';
    if (state === this.#state) return;
    this.#state = state;
    if (status === 'io-error') this.#warn('QEMU stopped the machine: a disk could not be read or written');
    if (status === 'guest-panicked') this.#warn('the guest’s kernel panicked, and QEMU stopped the machine');
    for (const listener of this.#listeners) listener(state);
  }

  shutdown(): void {
    this.#hasShutDown = true;
  }

  #warn(what: string): void {
    this.#parts.node.warn(`${this.#parts.node.name}: ${what}`);
  }

  #fail(reason: string): void {
    this.#failure = reason;
    void this.#parts.child.stop({ graceMs: 1000 });
  }

  /** Discards the memory from which the machine would continue again. */
  async #discardRestored(): Promise<void> {
    await this.#discardMemory?.();
    this.#discardMemory = undefined;
  }

  /** Events of the change arrive before its answer: they are not news. */
  async #changeState(state: 'started' | 'suspended', change: (monitor: Monitor) => Promise<unknown>): Promise<void> {
    const monitor = this.#monitor;
    if (monitor === undefined) return;
    if (state === 'started') await this.#discardRestored();
    this.#busy += 1;
    this.#awaitsLinks = false;
    try {
      await change(monitor);
      this.#state = state;
    } finally {
      this.#busy -= 1;
    }
  }

  /** Presses the power button; true when the guest went. A stopped machine would never see the button. */
  async #shutDown(): Promise<boolean> {
    if (this.#state === 'suspended') await this.#monitor?.execute('cont').catch(() => {});
    const pressed = await this.#monitor?.execute('system_powerdown').then(
      () => true,
      () => false,
    );
    return pressed === true && this.#endsWithin(this.#parts.limits.shutdownMs);
  }

  async #saveState(): Promise<void> {
    const { record, limits } = this.#parts;
    if (!record.canSaveState) return this.#warn('its state was not saved: that needs a disk in qcow2 format');
    try {
      // QEMU before 3.0 has no such jobs.
      if (this.#monitor) await endDiskCopies(this.#monitor).catch(() => undefined);
      await this.#monitor?.execute('stop');
      await this.#monitor?.human(`savevm ${savedStateName}`, limits.saveMs);
    } catch (error) {
      this.#warn(`its state was not saved: ${(error as Error).message}`);
    }
  }

  /** Ends QEMU immediately, but with the disks closed properly; by force when it does not follow. */
  async #quit(): Promise<void> {
    const { child, limits } = this.#parts;
    const isTold = await this.#monitor?.execute('quit', {}, limits.quitMs).then(
      () => true,
      () => false,
    );
    // QEMU takes SIGTERM as well as "quit"; what does neither is killed.
    if (!isTold || !(await this.#endsWithin(limits.quitMs))) await child.stop({ graceMs: limits.quitMs });
    await this.ended;
  }

  async #endsWithin(limitMs: number): Promise<boolean> {
    const given = new AbortController();
    const late = delay(limitMs, false, { signal: given.signal }).catch(() => false);
    const inTime = await Promise.race([this.ended.then(() => true), late]);
    given.abort();
    return inTime;
  }

  /** The drive that every PC has unless hdc takes its place. */
  async #changeCdrom(reference: string): Promise<void> {
    const drive = 'ide1-cd0';
    try {
      if (reference === '') await this.#monitor?.execute('eject', { device: drive, force: true });
      else {
        const filename = await this.#parts.resolveImage(reference);
        await this.#monitor?.execute('blockdev-change-medium', { device: drive, filename, format: 'raw', force: true });
      }
    } catch (error) {
      this.#warn(`the CD-ROM is changed at the next start only: ${(error as Error).message}`);
    }
  }

  #endingOf(outcome: Outcome): Ending {
    const words = outcome.tail === '' ? '' : `: ${outcome.tail}`;
    if (this.#failure !== '') return { how: 'failed', reason: `${this.#failure}${words}` };
    if (this.#isStopping) return { how: 'stopped', reason: '' };
    const isClean = (outcome.how === 'exited' && outcome.code === 0) || (outcome.how === 'lost' && this.#hasShutDown);
    if (isClean) return { how: 'exited', reason: 'the guest switched the machine off' };
    return { how: 'failed', reason: describeOutcome(outcome) };
  }
}

function movingVerbs(departure: Departure): Omit<Departure, 'abort'> {
  return {
    offer: departure.offer,
    stream: (name) => departure.stream(name),
    mirror: () => departure.mirror(),
    pause: () => departure.pause(),
    finish: () => departure.finish(),
    end: () => departure.end(),
  };
}

/** Describes the end of QEMU for people: code or signal, and its last words. */
export function describeOutcome({ how, code, signal, tail }: Outcome): string {
  const words = tail === '' ? 'it said nothing' : tail;
  if (how === 'failed-to-start') return `QEMU could not be started: ${words}`;
  if (signal !== undefined) return `QEMU was ended by ${signal}: ${words}`;
  return code === undefined ? `QEMU ended: ${words}` : `QEMU ended with code ${code}: ${words}`;
}
