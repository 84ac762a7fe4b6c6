/** A running router: one hypervisor with one router in it, and a relay for each of its linked ports. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Mutex } from '../../lib/mutex.ts';
import type { Child } from '../../process/child.ts';
import type { ConsoleSource, Emulator, Ending, NodeView, Properties } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { type KeptPort, PortProcesses } from '../port-processes/port-processes.ts';
import { type RouterConfigs, saveConfigs } from './configs.ts';
import { socketOf } from './confined.ts';
import type { Hypervisor } from './hypervisor.ts';
import { endingOf, sendAll } from './launch.ts';
import { innerUdp, portKey, type RelayFacts, relayService } from './relays.ts';
import { environmentCommands, idleCommands, pluggedModules } from './router-commands.ts';

/** Record of a running router, without its ports. */
type RouterRun = {
  readonly pid: number;
  readonly startTime: number;
  readonly namespacePid: number;
  /** Name of the router in its hypervisor. */
  readonly router: string;
  /** TCP port of clients of the AUX port; absent: it has none. */
  readonly aux?: number;
  /** Name of the ghost image that it maps. */
  readonly ghost?: string;
  readonly commandLine: string;
};
/** Record from which a restarted server adopts a running router. */
export type RouterRecord = RouterRun & { readonly ports: Readonly<Record<string, KeptPort<RelayFacts>>> };

export interface RouterParts {
  readonly host: Host;
  readonly node: NodeView;
  readonly child: Child;
  readonly hypervisor: Hypervisor;
  readonly record: RouterRun;
  /** Configurations in the NVRAM at the start; undefined: none, or not known. */
  readonly configs: RouterConfigs | undefined;
  /** Called once, when no process is left: releases what the driver holds for the router. */
  readonly released: () => void;
}

/** States of a router, as `vm get_status` answers. 1: it is shutting down. */
export const vmStates = { inactive: 0, running: 2, suspended: 3 } as const;

/** Time between SIGTERM and SIGKILL. */
const stopGraceMs = 3000;
/** Time limit for saving configurations and stopping the router; then the process is ended. */
const shutdownLimitMs = 15_000;
/** Interval at which the NVRAM is checked for a saved configuration, as in GNS3. */
const pollMs = 30_000;

export class RouterEmulator implements Emulator {
  readonly commandLine: string;
  readonly ended: Promise<Ending>;
  state: 'started' | 'suspended' = 'started';
  readonly #parts: RouterParts;
  readonly #relays: PortProcesses<RelayFacts>;
  /** Keys of ports whose NIO the router has. */
  readonly #nios: Set<number>;
  readonly #ports = new Mutex();
  readonly #poll: NodeJS.Timeout;
  /** Looks under way: a hypervisor that hangs is not asked again and again. */
  #looks = 0;
  /** Configurations that the NVRAM had at the last read. */
  #configs: RouterConfigs | undefined;
  /** Reported ending, whatever the process's exit code says: the process ends by itself when it is asked to. */
  #cause: Ending | undefined;
  #properties: Properties;

  constructor(parts: RouterParts, nios: Iterable<number> = []) {
    const { host, node, child, record } = parts;
    this.#parts = parts;
    this.#nios = new Set(nios);
    this.#properties = node.properties;
    this.#configs = parts.configs;
    this.commandLine = record.commandLine;
    const { runtimeDirectory, warn } = node;
    const place = { host, runtimeDirectory, pid: record.namespacePid };
    const { runtimeDirectory: runDirectory } = host.settings;
    this.#relays = new PortProcesses(relayService(place), { cwd: runtimeDirectory, runDirectory, warn });
    this.ended = child.outcome.then(async (outcome) => {
      await this.#tidy();
      return this.#cause ?? endingOf(outcome);
    });
    this.#poll = setInterval(() => this.#looks === 0 && void this.look(), pollMs);
    this.#poll.unref();
  }

  get record(): RouterRecord {
    return { ...this.#parts.record, ports: this.#relays.kept() };
  }

  get hypervisor(): Hypervisor {
    return this.#parts.hypervisor;
  }

  get router(): string {
    return this.#parts.record.router;
  }

  /** Takes over the relays of a server that ended. */
  adoptPorts(kept: RouterRecord['ports']): Promise<void> {
    return this.#relays.adopt(kept);
  }

  /** Saves configurations that the guest wrote, and notices a router that ended within its hypervisor. Never rejects. */
  async look(): Promise<void> {
    const { hypervisor, node } = this.#parts;
    this.#looks += 1;
    try {
      const { text } = await hypervisor.ask('vm', 'get_status', this.router);
      await this.#saveConfigs();
      if (Number(text) !== vmStates.inactive) return;
      this.#cause ??= { how: 'failed', reason: 'the router has stopped by itself' };
      await this.#parts.child.stop({ graceMs: stopGraceMs });
    } catch (error) {
      this.#parts.host.log('warning', `router of node ${node.name}: ${error}`);
    } finally {
      this.#looks -= 1;
    }
  }

  /** The states of the guest are changed by requests only. */
  onState(): void {}

  onRecord(listener: () => void): void {
    this.#relays.onChange(listener);
  }

  async suspend(): Promise<void> {
    await sendAll(this.hypervisor, [['vm', 'suspend', this.router]]);
    this.state = 'suspended';
  }

  async resume(): Promise<void> {
    await sendAll(this.hypervisor, [['vm', 'resume', this.router]]);
    this.state = 'started';
  }

  async reset(): Promise<boolean> {
    return false;
  }

  async stop({ now = false }: { now?: boolean } = {}): Promise<void> {
    this.#cause ??= { how: 'stopped', reason: 'it was stopped' };
    // A hypervisor that does not answer any more is ended all the same.
    if (!now) await Promise.race([this.#shutDown(), sleep(shutdownLimitMs, undefined, { ref: false })]);
    await this.#parts.child.stop({ graceMs: now ? 0 : stopGraceMs });
    await this.ended;
  }

  port(slot: number, port: number) {
    return this.#relays.spec(portKey(slot, port));
  }

  openPort(slot: number, port: number): Promise<void> {
    return this.#ports.run(async () => {
      const key = portKey(slot, port);
      await this.#relays.attach(key);
      if (this.#nios.has(key)) return;
      try {
        await this.#bind(slot, port);
      } catch (error) {
        await this.#unbind(slot, port);
        await this.#relays.detach(key);
        throw error;
      }
      this.#nios.add(key);
    });
  }

  closePort(slot: number, port: number): Promise<void> {
    return this.#ports.run(async () => {
      const key = portKey(slot, port);
      if (this.#nios.delete(key)) await this.#unbind(slot, port);
      await this.#relays.detach(key);
    });
  }

  async setCarrier(): Promise<void> {}

  console(): ConsoleSource {
    return { type: 'unix', path: socketOf(this.#parts.node.runtimeDirectory, 'console'), telnet: true };
  }

  auxiliary(): { source: ConsoleSource; port: number } | undefined {
    const { aux } = this.#parts.record;
    const path = socketOf(this.#parts.node.runtimeDirectory, 'aux');
    return aux === undefined ? undefined : { source: { type: 'unix', path, telnet: true }, port: aux };
  }

  /** Idle-PC, sensors and power supplies at once, and modules where they can be changed live; the rest with the next start. */
  async changed(properties: Properties): Promise<void> {
    const before = this.#properties;
    this.#properties = properties;
    const differs = (make: (of: Properties) => unknown) => !isDeepStrictEqual(make(before), make(properties));
    const idle = (of: Properties) => idleCommands(this.router, of, true);
    const environment = (of: Properties) => environmentCommands(this.router, of);
    if (differs(idle)) await sendAll(this.hypervisor, idle(properties));
    if (differs(environment)) await sendAll(this.hypervisor, environment(properties));
    await this.#replaceModules(before, properties);
  }

  release(): void {
    clearInterval(this.#poll);
    this.#parts.child.release();
    this.#relays.release();
    this.hypervisor.close();
  }

  /** Online insertion and removal: the guest is notified of each module. Links of a removed one are gone already. */
  async #replaceModules(before: Properties, after: Properties): Promise<void> {
    const has = (list: ReturnType<typeof pluggedModules>, one: unknown) => list.some((other) => isDeepStrictEqual(one, other));
    const [old, next] = [pluggedModules(before), pluggedModules(after)];
    for (const one of old.filter((module) => !has(next, module))) {
      await sendAll(this.hypervisor, [
        ['vm', 'slot_oir_stop', this.router, one.slot, one.sub],
        ['vm', 'slot_remove_binding', this.router, one.slot, one.sub],
      ]);
    }
    for (const one of next.filter((module) => !has(old, module))) {
      await sendAll(this.hypervisor, [
        ['vm', 'slot_add_binding', this.router, one.slot, one.sub, one.module],
        ['vm', 'slot_oir_start', this.router, one.slot, one.sub],
      ]);
    }
  }

  async #bind(slot: number, port: number): Promise<void> {
    const { nio, relay } = innerUdp(portKey(slot, port));
    const name = nioName(slot, port);
    await sendAll(this.hypervisor, [
      ['nio', 'create_udp', name, nio, '127.0.0.1', relay],
      ['vm', 'slot_add_nio_binding', this.router, slot, port, name],
    ]);
    // Refused where the module reads its NIO at once.
    await this.hypervisor.ask('vm', 'slot_enable_nio', this.router, slot, port).catch((error: Error) => {
      this.#parts.host.log('debug', `router of node ${this.#parts.node.name}: ${error.message}`);
    });
  }

  /** Removes the existing parts of a NIO binding. Never rejects: a hypervisor that has ended has none. */
  async #unbind(slot: number, port: number): Promise<void> {
    const at = [this.router, slot, port] as const;
    await this.hypervisor.ask('vm', 'slot_disable_nio', ...at).catch(() => undefined);
    await this.hypervisor.ask('vm', 'slot_remove_nio_binding', ...at).catch(() => undefined);
    await this.hypervisor.ask('nio', 'delete', nioName(slot, port)).catch(() => undefined);
  }

  /** Never rejects. */
  async #shutDown(): Promise<void> {
    const { hypervisor, node } = this.#parts;
    await this.#saveConfigs().catch((error: Error) => {
      node.warn(`The configuration of ${node.name} could not be saved: ${error.message}`);
    });
    await sendAll(hypervisor, [
      ['vm', 'stop', this.router],
      ['hypervisor', 'stop'],
    ]).catch(() => undefined);
  }

  async #saveConfigs(): Promise<void> {
    const { hypervisor, node } = this.#parts;
    const place = { directory: node.directory, id: Number(this.#properties.dynamips_id), before: this.#configs };
    this.#configs = await saveConfigs(hypervisor, this.router, place);
  }

  async #tidy(): Promise<void> {
    const { node, hypervisor, released } = this.#parts;
    clearInterval(this.#poll);
    hypervisor.close();
    await this.#relays.detachAll();
    await removeFiles(node.directory, this.#properties);
    released();
  }
}

const nioName = (slot: number, port: number) => `nio-${slot}-${port}`;
/** The port of a NIO with a name of ours. */
export function nioKey(name: string): number | undefined {
  const [, slot, port] = /^nio-(\d+)-(\d+)$/.exec(name) ?? [];
  return slot === undefined ? undefined : portKey(Number(slot), Number(port));
}

/** Locks and translated code of a run; with `auto_delete_disks` all that a router keeps but its configurations. */
async function removeFiles(directory: string, { auto_delete_disks }: Properties): Promise<void> {
  const run = /^(ilt_.*|.*_lock|.*\.ghost)$/;
  const disks = /^c\d+_i\d+_(nvram|rom|disk[01]|flash[01]|slot[01]|bootflash|ssa|rommon_vars)$/;
  const names = await readdir(directory).catch(() => []);
  const gone = names.filter((name) => run.test(name) || (auto_delete_disks === true && disks.test(name)));
  await Promise.all(gone.map((name) => rm(join(directory, name), { force: true }).catch(() => undefined)));
}
