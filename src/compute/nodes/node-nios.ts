/** The NIOs of one node: which port a request means, who owns the datagram port, what the fabric and the guest see of it. */
import { fault } from '../../api/faults.ts';
import type { Driver, Emulator, Properties } from '../../emulators/driver.ts';
import type { Nio } from '../../schema/nio.ts';
import type { Port } from '../../schema/node.ts';
import type { LinkSchedule } from '../../schema/schedule.ts';
import { Outages } from '../../schema/schedule-outages.ts';
import type { Context, ProjectView } from '../context.ts';
import { checkChange, checkNio, type NioChecks } from '../links/nio.ts';
import type { Binding, PortAddress } from '../links/wiring.ts';
import { capturesOf, type NioRecord, udpPortsOf } from '../store.ts';

/** The node, as far as its NIOs are concerned. */
export interface NioOwner {
  readonly id: string;
  readonly name: string;
  readonly project: ProjectView;
  readonly driver: Driver;
  readonly properties: Properties;
  readonly emulator: Emulator | undefined;
  /** Keeps what the emulator is found again by. */
  noteRun(): Promise<void>;
  /** The schedule of one of its links takes it down, or up again. Never rejects. */
  showScheduledLinks(): Promise<void>;
}

/** Numbers of a port as a path gives them. */
export interface PortNumbers {
  readonly adapter: number;
  readonly port: number;
}

export class NodeNios {
  readonly #context: Context;
  readonly #node: NioOwner;
  readonly #scheduled = new ScheduledCarriers(() => void this.#node.showScheduledLinks());
  #ports: { of: Properties; list: Port[] } | undefined;

  constructor(context: Context, node: NioOwner) {
    this.#context = context;
    this.#node = node;
  }

  /** Joins a port to where the NIO says, in place of what it was joined to. */
  async bind(at: PortNumbers, given: Nio): Promise<NioRecord> {
    const { wiring, store } = this.#context;
    const end = this.#endOf(at);
    const checked = await checkNio(given, this.#checks);
    const { kind } = this.#node.driver;
    if (checked.mirror_of !== undefined && !kind.can.mirror)
      throw fault('mirror_node', { name: this.#node.name, kind: kind.title });
    const before = wiring.find(end);
    await this.#openPort(end);
    this.#requireReachable(end);
    const { captures } = before?.nio ?? {};
    // A NIO with another UDP port is another link, which was not asked to be mirrored.
    const mirror_to = before?.nio.lport === checked.lport ? before.nio.mirror_to : undefined;
    const nio: NioRecord = { ...checked, ...(captures && { captures }), ...(mirror_to && { mirror_to }) };
    let release = () => {};
    try {
      release = this.#claim(nio.lport, before);
      await wiring.bind(end, nio);
      await store.setNio(end.nodeId, end, nio).catch(async (error) => {
        await this.#restore(end, before);
        throw error;
      });
    } catch (error) {
      release();
      if (!before) await this.#closePort(end).catch(() => undefined);
      throw error;
    }
    if (before) this.#releaseUnused(before.nio, nio);
    await this.#showCarrier(end);
    return nio;
  }

  /** Changes what happens to frames on the way; the addresses stay as they are. */
  async change(at: PortNumbers, given: Nio): Promise<void> {
    const { wiring } = this.#context;
    const before = this.get(at);
    const nio = await checkChange(given, before.nio, this.#checks);
    const release = this.#claimMirror(nio, before);
    await this.replace(before, nio).catch((error) => {
      release();
      throw error;
    });
    this.#releaseUnused(before.nio, nio);
    await this.#showCarrier(before);
    if (nio.schedule || before.nio.schedule) wiring.announcePeer(before);
  }

  /** Gives a NIO another record, with the same addresses. */
  async replace(before: Binding, nio: NioRecord): Promise<void> {
    const { wiring, store } = this.#context;
    await wiring.bind(before, nio);
    await store.setNio(before.nodeId, before, nio).catch(async (error) => {
      await this.#restore(before, before);
      throw error;
    });
  }

  async unbind(at: PortNumbers): Promise<void> {
    await this.#remove(this.get(at));
  }

  /** Removes NIOs of ports that are gone after a change of the properties. */
  async dropMissing(): Promise<void> {
    for (const binding of this.#context.wiring.ofNode(this.#node.id)) {
      if (!this.#findPort(binding)) await this.#remove(binding);
    }
  }

  /** @throws port_taken when a port that is joined would go */
  requireStay(properties: Properties): void {
    const ports = this.#portsWith(properties);
    for (const { adapter, port } of this.#context.wiring.ofNode(this.#node.id)) {
      if (ports.some((one) => one.adapter_number === adapter && one.port_number === port)) continue;
      throw fault('port_taken', { adapter_number: adapter, port_number: port, name: this.#node.name });
    }
  }

  /** Forgets all NIOs; that they are gone from the disk is the caller's part. */
  async clear(): Promise<void> {
    for (const binding of this.#context.wiring.ofNode(this.#node.id)) {
      await this.#unlink(binding);
      for (const lport of udpPortsOf(binding.nio)) this.#release(lport);
    }
  }

  /** Makes the ports ready that have a NIO; answers what kept the others. */
  async openAll(emulator: Emulator): Promise<Error[]> {
    const bindings = this.#context.wiring.ofNode(this.#node.id);
    const opened = await Promise.allSettled(bindings.map(({ adapter, port }) => emulator.openPort?.(adapter, port)));
    return opened.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  }

  /** Whether the guest should see a link up at this adapter. */
  carrier(adapter: number): boolean {
    const { project, driver, id } = this.#node;
    const { wiring } = this.#context;
    const bindings = wiring.ofNode(id).filter((binding) => binding.adapter === adapter && !binding.nio.suspend);
    if (project.record.replicate_link_state)
      return bindings.some((binding) => wiring.hasRunningPeer(binding) && !this.#isScheduledDown(binding));
    return bindings.length > 0 || driver.kind.can.replicateLinkState !== true;
  }

  /** Shows the guest the state of the link at every adapter. */
  async showCarriers(): Promise<void> {
    const adapters = new Map(this.#portList().map((port) => [port.adapter_number, port.port_number]));
    for (const [adapter, port] of adapters) await this.#showCarrier({ nodeId: this.#node.id, adapter, port });
  }

  async showScheduled(): Promise<void> {
    const { wiring } = this.#context;
    if (!this.#node.project.record.replicate_link_state) return;
    for (const binding of wiring.ofNode(this.#node.id)) if (wiring.scheduleOf(binding)) await this.#showCarrier(binding);
  }

  #isScheduledDown(binding: Binding): boolean {
    const schedule = this.#context.wiring.scheduleOf(binding);
    return schedule !== undefined && this.#scheduled.isDown(schedule);
  }

  async #remove(binding: Binding): Promise<void> {
    const { store } = this.#context;
    await this.#unlink(binding);
    await store.deleteNio(binding.nodeId, binding).catch(async (error) => {
      await this.#restore(binding, binding);
      throw error;
    });
    for (const lport of udpPortsOf(binding.nio)) this.#release(lport);
    await this.#closePort(binding);
    await this.#showCarrier(binding);
  }

  async #openPort({ adapter, port }: PortAddress): Promise<void> {
    const { emulator } = this.#node;
    if (!emulator?.openPort) return;
    await emulator.openPort(adapter, port);
    await this.#node.noteRun();
  }

  async #closePort({ adapter, port }: PortAddress): Promise<void> {
    const { emulator } = this.#node;
    if (!emulator?.closePort) return;
    await emulator.closePort(adapter, port);
    await this.#node.noteRun();
  }

  /** A fabric that does not answer carries nothing, and gets no such link when it is back. */
  #unlink(binding: Binding): Promise<void> {
    const { wiring, captures, log } = this.#context;
    return captures
      .ending(capturesOf(binding.nio), () => wiring.unbind(binding))
      .catch((error) => log('warning', `unlinking node ${this.#node.name}: ${error}`));
  }

  /** Makes the datagram port this NIO's; returns how to undo that. */
  #claim(lport: number, before: Binding | undefined): () => void {
    if (before?.nio.lport === lport) return () => undefined;
    const { reservedPorts } = this.#node.project;
    if (reservedPorts.take(lport)) return () => reservedPorts.add(lport);
    const { wiring, ports } = this.#context;
    const { udp } = ports;
    const holder = wiring.findByPort(lport);
    // The port of a node that does not run may be used again, as in GNS3: no frame is lost.
    if (holder && !wiring.isRunning(holder.nodeId)) return () => undefined;
    if (holder || !udp.reserve(lport)) throw fault('udp_port_taken', { lport });
    return () => udp.release(lport);
  }

  /** Claims, as `#claim` does, the port from which the link's frames are sent to a mirror on another compute. */
  #claimMirror({ mirror_to }: NioRecord, before: Binding): () => void {
    if (!mirror_to || mirror_to.lport === before.nio.mirror_to?.lport) return () => undefined;
    return this.#claim(mirror_to.lport, undefined);
  }

  #releaseUnused(before: NioRecord, after: NioRecord): void {
    for (const lport of udpPortsOf(before)) if (!udpPortsOf(after).includes(lport)) this.#release(lport);
  }

  /** Unless another NIO has the port. */
  #release(lport: number): void {
    const { wiring, ports } = this.#context;
    if (!wiring.findByPort(lport)) ports.udp.release(lport);
  }

  async #restore(end: PortAddress, before: Binding | undefined): Promise<void> {
    const { wiring, log } = this.#context;
    await (before ? wiring.bind(end, before.nio) : wiring.unbind(end)).catch((error) => log('error', `restoring a link: ${error}`));
  }

  get #checks(): NioChecks {
    const { bpf, settings } = this.#context;
    return { nodeType: this.#node.driver.kind.type, compiler: bpf, streams: settings.Server.link_streams };
  }

  linkTypeOf(end: PortAddress): Port['link_type'] {
    return this.#findPort(end)?.link_type ?? 'ethernet';
  }

  /** @throws adapter_missing, nio_missing */
  get(at: PortNumbers): Binding {
    const end = this.#endOf(at);
    const binding = this.#context.wiring.find(end);
    if (binding) return binding;
    throw fault('nio_missing', { adapter_number: at.adapter, port_number: at.port, name: this.#node.name });
  }

  #endOf(at: PortNumbers): PortAddress {
    const port = this.#findPort(at);
    if (port) return { nodeId: this.#node.id, adapter: port.adapter_number, port: port.port_number };
    const count = this.#portList().length;
    throw fault('adapter_missing', { adapter_number: at.adapter, port_number: at.port, name: this.#node.name, count });
  }

  #findPort(at: PortNumbers): Port | undefined {
    const { addressesByPort, addressesByBoth } = this.#node.driver.kind.can;
    const isIt = ({ adapter_number, port_number }: Port) =>
      (adapter_number === at.adapter || (addressesByPort && !addressesByBoth)) && (port_number === at.port || !addressesByPort);
    return this.#portList().find(isIt);
  }

  #portList(): Port[] {
    const { properties } = this.#node;
    if (this.#ports?.of !== properties) this.#ports = { of: properties, list: this.#portsWith(properties) };
    return this.#ports.list;
  }

  #portsWith(properties: Properties): Port[] {
    const { port_name_format, port_segment_size } = this.#node.driver.kind.defaults;
    const naming = { port_name_format, port_segment_size, first_port_name: null, custom_adapters: [] };
    return this.#node.driver.kind.ports(properties, naming);
  }

  /** An adapter that was added to a running machine's properties comes with its next start. */
  #requireReachable(end: PortAddress): void {
    const { emulator, name } = this.#node;
    if (emulator && !emulator.port(end.adapter, end.port)) {
      throw fault('node_running', { name, what: `use adapter ${end.adapter}, which it does not have yet` });
    }
  }

  async #showCarrier(end: PortAddress): Promise<void> {
    const { emulator, name } = this.#node;
    await emulator
      ?.setCarrier(end.adapter, this.carrier(end.adapter))
      .catch((error) => this.#context.log('warning', `link state of adapter ${end.adapter} of ${name}: ${error}`));
  }
}

/** A flap may be quicker, an emulator need not be asked for each. */
const shortestMs = 100;
/** Longest delay of a Node.js timer. */
const longestMs = 2 ** 31 - 1;

/** Follows the outages of a schedule, as guests see them: the carrier of an adapter goes down and comes back with its link. */
class ScheduledCarriers {
  /** Outages of the schedules in use, so that each schedule is read once. */
  readonly #outages = new WeakMap<LinkSchedule, Outages>();
  readonly #due: () => void;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  /** `due`: carriers may have changed. */
  constructor(due: () => void) {
    this.#due = due;
  }

  /** Whether a link is down now, by its schedule. Calls back when that may change. */
  isDown(schedule: LinkSchedule): boolean {
    const outages = this.#outages.get(schedule) ?? new Outages(schedule);
    this.#outages.set(schedule, outages);
    const now = Date.now();
    const [isDown, until] = outages.at(now - schedule.started_at);
    if (until !== Number.POSITIVE_INFINITY) this.#awaken(Math.max(schedule.started_at + until, now + shortestMs), now);
    return isDown;
  }

  #awaken(at: number, now: number): void {
    if (at >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(
      () => {
        this.#dueAt = Number.POSITIVE_INFINITY;
        this.#due();
      },
      Math.min(at - now, longestMs),
    ).unref();
  }
}
