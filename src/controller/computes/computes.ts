/** The registered computes, durable but for the local one, which always exists. */
import { join } from 'node:path';
import { fault, isFault } from '../../api/faults.ts';
import type { ComputeEvent } from '../../api/transport.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { Mutex } from '../../lib/mutex.ts';
import { keepCopy, readOwnJson } from '../../lib/set-aside.ts';
import type { ComputeCreate, ComputeUpdate } from '../../schema/compute.ts';
import type { ControllerContext } from '../context.ts';
import { storageFailed } from '../log/project-log.ts';
import { canonical } from '../model/canonical.ts';
import { type LinkRelay, makeRelay } from '../relay/link-relay.ts';
import { refuseClearCredentials } from './clear-credentials.ts';
import { type ComputeRecord, type ComputeTransport, localComputeId, RegisteredCompute } from './compute.ts';
import { ImageTransfers } from './image-transfers.ts';
import { TemporaryProjects } from './temporary-projects.ts';

/** Follows the registered computes. */
interface ComputesListener {
  /** `compute.created`, `compute.updated`, `compute.deleted` for listeners of the controller. */
  readonly announce: (action: string, compute: RegisteredCompute) => void;
  readonly onEvent: (compute: RegisteredCompute, event: ComputeEvent) => void;
  /** A compute was registered, connected or lost. */
  readonly onState: (compute: RegisteredCompute) => void;
}

interface ComputesFile {
  readonly computes: readonly ComputeRecord[];
  readonly version: string;
  readonly local_name?: string | undefined;
}

/** Value in place of a compute's id that lets the server choose. */
export const anyCompute = 'auto';
const reserved = new Set(['vm', 'gns3vm', localComputeId, anyCompute]);

interface NodeToPlace {
  readonly compute_id: string;
  readonly node_type: string;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

export class Computes {
  readonly #context: ControllerContext;
  readonly #makeTransport: (record: ComputeRecord) => ComputeTransport;
  readonly #listener: ComputesListener;
  readonly #computes = new Map<string, RegisteredCompute>();
  readonly #unsubscribe = new Map<string, () => void>();
  readonly #changes = new Mutex();
  readonly images = new ImageTransfers(
    () => this.local,
    () => this.all(),
  );
  #list: readonly object[] | undefined;
  /** Name that a client gave the local compute. */
  #localName: string | undefined;
  #choose: ((node: NodeToPlace) => RegisteredCompute) | undefined;

  /** Relay for links between remote computes. */
  readonly relay: LinkRelay;
  readonly temporary: TemporaryProjects;

  private constructor(
    context: ControllerContext,
    temporary: TemporaryProjects,
    makeTransport: (record: ComputeRecord) => ComputeTransport,
    listener: ComputesListener,
  ) {
    this.#context = context;
    this.temporary = temporary;
    this.#makeTransport = makeTransport;
    this.#listener = listener;
    this.relay = makeRelay(context.settings, context.log);
  }

  static async open(
    context: ControllerContext,
    local: { readonly record: ComputeRecord; readonly transport: ComputeTransport; readonly consoleHost: string },
    makeTransport: (record: ComputeRecord) => ComputeTransport,
    listener: ComputesListener,
  ): Promise<Computes> {
    const temporary = await TemporaryProjects.open(context.stateDirectory, (message) => context.log.error(message));
    const computes = new Computes(context, temporary, makeTransport, listener);
    const { record, transport, consoleHost } = local;
    const stored = await computes.#load();
    computes.#add(new RegisteredCompute({ ...record, name: computes.#localName ?? record.name }, transport, consoleHost));
    for (const other of stored) {
      const compute = new RegisteredCompute(other, makeTransport(other));
      computes.#add(compute);
      compute.transport.connect().catch(() => undefined);
    }
    return computes;
  }

  get local(): RegisteredCompute {
    return this.get(localComputeId);
  }

  find(computeId: string): RegisteredCompute | undefined {
    return this.#computes.get(computeId);
  }

  /** @throws `compute_not_found` */
  get(computeId: string): RegisteredCompute {
    const compute = this.#computes.get(computeId);
    if (!compute) throw fault('compute_not_found', { compute_id: computeId });
    return compute;
  }

  /** The compute on which a client wants a node. @throws `compute_not_found`, and why none is chosen */
  resolve(node: NodeToPlace): RegisteredCompute {
    return node.compute_id === anyCompute && this.#choose ? this.#choose(node) : this.get(node.compute_id);
  }

  /** Sets the choice of a compute for nodes that name none. */
  chooseBy(choose: (node: NodeToPlace) => RegisteredCompute): void {
    this.#choose = choose;
  }

  all(): RegisteredCompute[] {
    return [...this.#computes.values()];
  }

  /** Objects of the API. */
  list(): readonly object[] {
    this.#list ??= Object.freeze(this.all().map((compute) => compute.object));
    return this.#list;
  }

  /** Registers a compute, or connects the one that has this id. */
  create(given: ComputeCreate): Promise<RegisteredCompute> {
    return this.#changes.run(async () => {
      const existing = given.compute_id === undefined ? undefined : this.#computes.get(given.compute_id);
      if (existing) {
        await existing.transport.connect().catch(() => undefined);
        this.changed(existing);
        return existing;
      }
      for (const name of [given.compute_id, given.name]) {
        if (name !== undefined && reserved.has(name)) throw fault('compute_id_reserved', { name });
      }
      const record = recordOf(given);
      this.#refuseTakenName(record.name);
      if (!this.#context.settings.Server.clear_credentials) await refuseClearCredentials(record);
      const compute = new RegisteredCompute(record, this.#makeTransport(record));
      await this.#connectFirst(compute);
      await this.#save([...this.#stored(), record]).catch(async (error: unknown) => {
        await compute.transport.close();
        throw error;
      });
      this.#add(compute);
      this.#listener.announce('compute.created', compute);
      this.#listener.onState(compute);
      return compute;
    });
  }

  update(computeId: string, given: ComputeUpdate): Promise<RegisteredCompute> {
    return this.#changes.run(async () => {
      const compute = this.get(computeId);
      const { compute_id: _id, ...fields } = given;
      if (fields.name !== undefined && fields.name !== compute.record.name) this.#refuseTakenName(fields.name);
      if (compute.isLocal) return this.#renameLocal(fields.name ?? compute.record.name);
      const record: ComputeRecord = canonical({ ...compute.record, ...fields });
      if (!this.#context.settings.Server.clear_credentials) await refuseClearCredentials(record);
      await this.#save(this.#stored().map((stored) => (stored.compute_id === computeId ? record : stored)));
      const before = compute.transport;
      compute.replace(record, this.#makeTransport(record));
      this.#listen(compute);
      await before.close();
      compute.transport.connect().catch(() => undefined);
      this.changed(compute);
      return compute;
    });
  }

  /** Renames the local compute. Its address is fixed: this server listens there. */
  async #renameLocal(name: string): Promise<RegisteredCompute> {
    const { local } = this;
    const before = this.#localName;
    if (name !== local.record.name) {
      this.#localName = name;
      await this.#save(this.#stored()).catch((error: unknown) => {
        this.#localName = before;
        throw error;
      });
      local.replace({ ...local.record, name }, local.transport);
    }
    this.changed(local);
    return local;
  }

  /** Deletes a compute. An unknown id is ignored. */
  delete(computeId: string): Promise<void> {
    return this.#changes.run(async () => {
      const compute = this.#computes.get(computeId);
      if (!compute) return;
      if (compute.isLocal) throw fault('compute_id_reserved', { name: computeId });
      await this.#save(this.#stored().filter((stored) => stored.compute_id !== computeId));
      this.#unsubscribe.get(computeId)?.();
      this.#unsubscribe.delete(computeId);
      this.#computes.delete(computeId);
      this.#list = undefined;
      await compute.transport.close();
      this.#listener.announce('compute.deleted', compute);
    });
  }

  /** Something of its object changed. */
  changed(compute: RegisteredCompute): void {
    this.#list = undefined;
    this.#listener.announce('compute.updated', compute);
  }

  async close(): Promise<void> {
    await this.relay.close();
    for (const unsubscribe of this.#unsubscribe.values()) unsubscribe();
    await Promise.all(this.all().map((compute) => compute.transport.close()));
    await this.temporary.close();
  }

  #add(compute: RegisteredCompute): void {
    this.#computes.set(compute.id, compute);
    this.#list = undefined;
    this.#listen(compute);
  }

  #listen(compute: RegisteredCompute): void {
    this.#unsubscribe.get(compute.id)?.();
    const { transport } = compute;
    const endEvents = transport.events((event) => this.#listener.onEvent(compute, event));
    const endStates = transport.onState(() => {
      compute.touch();
      this.changed(compute);
      this.#listener.onState(compute);
    });
    this.#unsubscribe.set(compute.id, () => {
      endEvents();
      endStates();
    });
  }

  #refuseTakenName(name: string): void {
    if (this.all().some((compute) => compute.record.name === name)) throw fault('compute_name_taken', { name });
  }

  /** A compute that does not answer may do so later; one that answers and cannot be used is not registered. */
  async #connectFirst(compute: RegisteredCompute): Promise<void> {
    try {
      await compute.transport.connect();
    } catch (error) {
      if (isFault(error, 'compute_unreachable')) return;
      await compute.transport.close();
      throw error;
    }
  }

  get #file(): string {
    return join(this.#context.stateDirectory, 'computes.json');
  }

  #stored(): ComputeRecord[] {
    return this.all()
      .filter((compute) => !compute.isLocal)
      .map((compute) => compute.record);
  }

  async #load(): Promise<ComputeRecord[]> {
    const { log } = this.#context;
    const take = (value: unknown) => {
      const { computes, local_name } = value as ComputesFile;
      if (!Array.isArray(computes)) throw new Error('"computes" is no list');
      return { local_name, computes };
    };
    const stored = await readOwnJson(this.#file, take, (message) => log.error(message));
    if (typeof stored?.local_name === 'string') this.#localName = stored.local_name;
    const records: ComputeRecord[] = (stored?.computes ?? []).filter(isRecord);
    const lost = (stored?.computes.length ?? 0) - records.length;
    if (lost > 0)
      log.error(`${lost} computes of ${this.#file} cannot be used; what was there is now ${await keepCopy(this.#file)}`);
    return records.map((record) => canonical(record));
  }

  async #save(computes: readonly ComputeRecord[]): Promise<void> {
    try {
      const file: ComputesFile = {
        computes,
        version: this.#context.version,
        ...(this.#localName && { local_name: this.#localName }),
      };
      const text = JSON.stringify(file, null, 4);
      // The file holds passwords.
      await writeFileAtomic(this.#file, `${text}\n`, 0o600);
    } catch (error) {
      throw storageFailed(error, this.#file);
    }
  }
}

function recordOf(given: ComputeCreate): ComputeRecord {
  const { host, port, protocol, user = null, password = null } = given;
  const shownUser = user === null ? '' : `${user.length > 14 ? `${user.slice(0, 11)}...` : user}@`;
  return canonical({
    compute_id: given.compute_id ?? crypto.randomUUID(),
    host,
    name: given.name ?? `${protocol}://${shownUser}${host}:${port}`,
    password,
    port,
    protocol,
    user,
  });
}

/** Whether it is a compute that can be asked: the file may have been changed by anything. */
function isRecord(value: unknown): value is ComputeRecord {
  const { compute_id, host, name, password, port, protocol, user } = (value ?? {}) as Partial<Record<keyof ComputeRecord, unknown>>;
  const isText = (given: unknown) => typeof given === 'string' && given !== '';
  const isTextOrNull = (given: unknown) => given === null || given === undefined || typeof given === 'string';
  if (![compute_id, host, name].every(isText) || !isTextOrNull(user) || !isTextOrNull(password)) return false;
  return Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536 && (protocol === 'http' || protocol === 'https');
}
