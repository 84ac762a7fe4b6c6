/**
 * Slices as bare pods in one namespace. One write places a slice, one ends it. Pods carry controller and slice as labels, so that
 * a controller that starts again finds them. A pod is never made anew by Kubernetes: the controller does that, when the lease of
 * the slice has run out. Only `v1` is used, as versions 1.20 and later have it.
 */
import { Retry } from '../../../lib/retry.ts';
import {
  type Engine,
  EngineError,
  type EngineLimits,
  type Offer,
  type SliceListener,
  type SliceOrder,
  type SliceReport,
} from '../engine.ts';
import { type KubeClient, KubeError } from './kube-client.ts';
import {
  type KubeNode,
  type KubeObject,
  type KubePod,
  type KubeQuota,
  type KubeStatus,
  quantityOf,
  type WatchEvent,
} from './kube-objects.ts';
import { attemptOf, type KubernetesSettings, ownerSelector, podOf, reportOfPod, sliceOfPod, sliceSelector } from './slice-pod.ts';

const retryTimes = { firstMs: 250, longestMs: 15_000 };
const latePollMs = 5_000;
const mebibyte = 2 ** 20;
const gone = 410;

/** Ends a watch that has to begin with a new list. */
class ListAgain extends EngineError {}

export class KubernetesEngine implements Engine {
  readonly name = 'kubernetes';
  readonly canBeAsked = false;
  readonly #client: KubeClient;
  readonly #settings: KubernetesSettings;
  #ownerUid: Promise<string | undefined> | undefined;

  constructor(client: KubeClient, settings: KubernetesSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** Sizes of nodes where they may be read, otherwise the configured one; no more than the quotas leave. */
  async offer(): Promise<readonly Offer[]> {
    const [quotas, nodes] = await Promise.all([this.#quotas(), this.#permitted<KubeNode>('/api/v1/nodes')]);
    const room = roomOf(quotas ?? []);
    const { largest_cpus: cpus, largest_memory: memory, kvm_resource } = this.#settings;
    const disk = Number.MAX_SAFE_INTEGER;
    const cap = (name: string, size: { cpus: number; memory: number; kvm: boolean }): Offer => ({
      name,
      cpus: Math.min(size.cpus, room.cpus),
      memory: Math.min(size.memory, room.memory),
      disk,
      kvm: size.kvm,
      count: Number.isFinite(room.pods) ? room.pods : null,
      wait: null,
    });
    const offers = nodes
      ? nodes.filter(isUsable).map((node) => {
          const { allocatable = {} } = node.status ?? {};
          const kvm = kvm_resource !== '' && (quantityOf(allocatable[kvm_resource]) ?? 0) > 0;
          const size = {
            cpus: quantityOf(allocatable.cpu) ?? 0,
            memory: Math.floor((quantityOf(allocatable.memory) ?? 0) / mebibyte),
            kvm,
          };
          return cap(node.metadata?.name ?? '', size);
        })
      : [cap('any node', { cpus, memory, kvm: kvm_resource !== '' })];
    return offers
      .filter((offer) => offer.cpus > 0 && offer.memory > 0 && offer.count !== 0)
      .toSorted((a, b) => b.cpus - a.cpus || b.memory - a.memory);
  }

  async place(order: SliceOrder): Promise<void> {
    // A crash or a lost answer may have left a pod of this slice.
    const { items } = await this.#client.list<KubePod>('pods', sliceSelector(order.id));
    const states = items.map((pod) => reportOfPod(pod, Date.now()).state);
    if (states.includes('pending') || states.includes('running')) return;
    const attempt = 1 + Math.max(0, ...items.map(attemptOf));
    const ownerUid = await this.#owner();
    try {
      await this.#client.call('POST', 'pods', podOf(order, { settings: this.#settings, attempt, ...(ownerUid && { ownerUid }) }));
    } catch (error) {
      // Another call of the same order was faster.
      if (!(error instanceof KubeError && error.word === 'AlreadyExists')) throw error;
    }
    // Pods of earlier attempts are deleted; a pod of a silent node stays until that node answers.
    for (const [index, pod] of items.entries()) if (states[index] !== 'draining') await this.#delete(pod);
  }

  /** A folder on a claim is kept in any case: nothing but a slice may write there. */
  async release(id: string): Promise<void> {
    const { items } = await this.#client.list<KubePod>('pods', sliceSelector(id));
    for (const pod of items) if (pod.metadata?.deletionTimestamp === undefined) await this.#delete(pod);
  }

  async watch(owner: string, listener: SliceListener, signal: AbortSignal): Promise<void> {
    const retry = new Retry(retryTimes);
    while (!signal.aborted) {
      const pods = new SlicePods(listener);
      // Kubernetes sends no event when a pod does not end in time.
      const clock = setInterval(() => pods.announceLate(), latePollMs);
      try {
        let version = await this.#list(owner, pods);
        if (signal.aborted) return;
        listener.onProblem(null);
        pods.announceAll();
        retry.succeeded();
        const onEvent = (event: WatchEvent) => {
          version = versionAfter(event) ?? version;
          pods.take(event);
        };
        while (!signal.aborted) await this.#watchFrom(owner, version, { signal, onEvent, retry });
      } catch (error) {
        if (signal.aborted) return;
        clearInterval(clock);
        // Any other error than an `EngineError` comes from an object whose fields have unexpected types.
        if (!(error instanceof ListAgain)) listener.onProblem((error as Error).message);
        await retry.pause(signal);
      } finally {
        clearInterval(clock);
      }
    }
  }

  async limits(): Promise<EngineLimits> {
    const { claim, grace, kvm_resource, owner_config_map } = this.#settings;
    const [quotas, owner] = await Promise.all([this.#quotas(), this.#owner()]);
    const room = roomOf(quotas ?? []);
    const remarks = [
      !quotas && 'Quotas of the namespace cannot be read: give the service account "list" on resourcequotas.',
      claim === '' && 'The disks of machines end with their slice: name a claim with ReadWriteMany as claim in [Kubernetes].',
      kvm_resource === '' && 'No machine gets /dev/kvm: name the resource of the device plugin as kvm_resource in [Kubernetes].',
      owner_config_map !== '' &&
        owner === undefined &&
        `ConfigMap ${owner_config_map} cannot be read: slices stay when the controller is uninstalled. Give the service account "get" on it.`,
      ...(quotas ?? []).flatMap(fullOf),
    ].filter((remark) => remark !== false);
    const slices = Number.isFinite(room.hardPods) ? room.hardPods : null;
    return { slices, walltime: null, grace, disks: claim === '' ? 'none' : 'anywhere', remarks };
  }

  /** Pods keep running. */
  close(): Promise<void> {
    return this.#client.close();
  }

  async #list(owner: string, pods: SlicePods): Promise<string> {
    const { items, version } = await this.#client.list<KubePod>('pods', ownerSelector(owner));
    for (const pod of items) pods.add(pod);
    return version;
  }

  /**
   * Watches from a version until the server ends the watch, as it does every few minutes, or the connection breaks. The caller then
   * continues from the last version.
   */
  async #watchFrom(owner: string, version: string, { signal, onEvent, retry }: WatchFrom): Promise<void> {
    const query = { labelSelector: ownerSelector(owner), resourceVersion: version };
    const begun = performance.now();
    try {
      await this.#client.watch('pods', query, signal, onEvent);
      // A server that ends each watch at once is not asked without a pause.
      if (performance.now() - begun < retryTimes.firstMs) await retry.pause(signal);
      else retry.succeeded();
    } catch (error) {
      if (error instanceof KubeError && error.status === gone) throw new ListAgain('The version is too old', { cause: error });
      // The events of the gap are sent after the watch reconnects, or there is a new list.
      const isBroken = error instanceof KubeError && error.status === 0;
      if (!isBroken || performance.now() - begun < retryTimes.firstMs) throw error;
    }
  }

  async #delete({ metadata }: KubeObject): Promise<void> {
    const { name = '', uid } = metadata ?? {};
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', ...(uid !== undefined && { preconditions: { uid } }) };
    await this.#client.call('DELETE', `pods/${encodeURIComponent(name)}`, options).catch((error: unknown) => {
      const isAway = error instanceof KubeError && (error.status === 404 || error.status === 409);
      if (!isAway) throw error;
    });
  }

  /** Asked once; undefined where there is none or it may not be read. */
  #owner(): Promise<string | undefined> {
    const { owner_config_map } = this.#settings;
    if (owner_config_map === '') return Promise.resolve(undefined);
    this.#ownerUid ??= this.#client.call('GET', `configmaps/${encodeURIComponent(owner_config_map)}`).then(
      ({ metadata }) => metadata?.uid,
      (error: unknown) => {
        this.#ownerUid = undefined;
        if (error instanceof KubeError && (error.status === 403 || error.status === 404)) return undefined;
        throw error;
      },
    );
    return this.#ownerUid;
  }

  #quotas(): Promise<KubeQuota[] | undefined> {
    return this.#permitted<KubeQuota>('resourcequotas');
  }

  /** Undefined: not permitted. */
  #permitted<T extends KubeObject>(path: string): Promise<T[] | undefined> {
    return this.#client.list<T>(path, '').then(
      ({ items }) => items,
      (error: unknown) => {
        if (error instanceof KubeError && error.status === 403) return undefined;
        throw error;
      },
    );
  }
}

interface WatchFrom {
  readonly signal: AbortSignal;
  readonly onEvent: (event: WatchEvent) => void;
  readonly retry: Retry;
}

/** The pods of an owner by name; of several pods of a slice the newest is reported. */
class SlicePods {
  readonly #listener: SliceListener;
  readonly #pods = new Map<string, KubePod>();
  readonly #reported = new Map<string, string>();

  constructor(listener: SliceListener) {
    this.#listener = listener;
  }

  add(pod: KubePod): void {
    const name = pod.metadata?.name;
    if (name !== undefined && sliceOfPod(pod) !== undefined) this.#pods.set(name, pod);
  }

  announceAll(): void {
    const ids = new Set(Array.from(this.#pods.values(), (pod) => sliceOfPod(pod) ?? ''));
    const reports = Array.from(ids, (id) => this.#reportOf(id)).filter((report) => report !== undefined);
    for (const report of reports) this.#reported.set(report.id, JSON.stringify(report));
    this.#listener.onList(reports);
  }

  take({ type, object }: WatchEvent): void {
    const pod = object as KubePod;
    const id = sliceOfPod(pod);
    if (id === undefined || type === 'BOOKMARK') return;
    if (type === 'DELETED') this.#pods.delete(pod.metadata?.name ?? '');
    else this.add(pod);
    const report = this.#reportOf(id);
    this.#announce(report ?? removedReport(pod));
    if (!report) this.#reported.delete(id);
  }

  /** Announces the reports that time alone has changed. Called once the pods are listed. */
  announceLate(): void {
    for (const id of this.#reported.keys()) {
      const report = this.#reportOf(id);
      if (report) this.#announce(report);
    }
  }

  #announce(report: SliceReport): void {
    const { id } = report;
    const text = JSON.stringify(report);
    if (this.#reported.get(id) === text) return;
    this.#reported.set(id, text);
    this.#listener.onChange(report);
  }

  #reportOf(id: string): SliceReport | undefined {
    const pods = [...this.#pods.values()].filter((pod) => sliceOfPod(pod) === id);
    const [newest] = pods.toSorted((a, b) => attemptOf(b) - attemptOf(a));
    return newest && reportOfPod(newest, Date.now());
  }
}

/** The kubelet removes a pod when its containers have ended; one of a silent node was removed by force. */
function removedReport(pod: KubePod): SliceReport {
  const report = reportOfPod(pod, Date.now());
  if (report.state === 'lost') return report;
  return { ...report, state: 'ended', reason: report.state === 'ended' ? report.reason : null, endsAt: null };
}

/** @throws ListAgain */
function versionAfter({ type, object }: WatchEvent): string | undefined {
  if (type === 'ERROR') {
    const { code, message = 'no reason' } = object as KubeStatus;
    throw code === gone ? new ListAgain(message) : new KubeError(`The watch failed: ${message}`, { status: code ?? 500 });
  }
  return object.metadata?.resourceVersion;
}

function isUsable({ spec, status }: KubeNode): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  return (
    isReady &&
    spec?.unschedulable !== true &&
    !spec?.taints?.some(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute')
  );
}

interface QuotaRoom {
  readonly cpus: number;
  /** MiB. */
  readonly memory: number;
  readonly pods: number;
  readonly hardPods: number;
}

function roomOf(quotas: readonly KubeQuota[]): QuotaRoom {
  const least = (names: readonly string[], isHard = false) =>
    Math.min(
      ...quotas.flatMap(({ status: { hard = {}, used = {} } = {} }) =>
        names.flatMap((name) => {
          const limit = quantityOf(hard[name]);
          return limit === undefined ? [] : [Math.max(0, isHard ? limit : limit - (quantityOf(used[name]) ?? 0))];
        }),
      ),
      Number.POSITIVE_INFINITY,
    );
  const pods = ['pods', 'count/pods'];
  return {
    cpus: least(['requests.cpu', 'cpu', 'limits.cpu']),
    memory: Math.floor(least(['requests.memory', 'memory', 'limits.memory']) / mebibyte),
    pods: least(pods),
    hardPods: least(pods, true),
  };
}

/** A sentence for each resource that a quota has none left of. */
function fullOf({ metadata, status: { hard = {}, used = {} } = {} }: KubeQuota): string[] {
  return Object.entries(hard)
    .filter(([name, limit]) => (quantityOf(used[name]) ?? 0) >= (quantityOf(limit) ?? Number.POSITIVE_INFINITY))
    .map(([name, limit]) => `Quota ${metadata?.name} leaves no ${name}: all ${limit} are used.`);
}
