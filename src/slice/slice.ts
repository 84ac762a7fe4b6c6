/** Registers a compute with a controller: `patchbay compute --join URL`. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bootId, bootMs } from '../lib/boot-clock.ts';
import type { Log } from '../lib/log.ts';
import { Retry } from '../lib/retry.ts';
import { stayAhead } from '../process/priority.ts';
import type { Finding } from '../schema/finding.ts';
import type { Settings } from '../schema/settings.ts';
import type { SliceAddress, SliceLease } from '../schema/slice.ts';
import { ControllerClient, RefusedError } from './controller-client.ts';
import { engineWordOf } from './engine-word.ts';
import { GuardProcess } from './guard-process.ts';
import { leaseFileOf, readDeadline } from './lease-file.ts';
import { LeaseKeeper, type Machines } from './lease-keeper.ts';
import { newSecret, SliceFile } from './slice-file.ts';

/** Environment variable with the one-time token. */
const tokenVariable = 'PATCHBAY_JOIN';
/** User name of the slice's own server. */
const user = 'patchbay';
const leaveLimitMs = 3_000;
/** Polling interval while the controller moves the slice's nodes to other slices. */
const movingPollMs = 500;

export interface SliceParts {
  readonly machines: Machines & { setDeadline(deadline: number): void; ending(): void };
  readonly findings: () => Promise<readonly Finding[]>;
  /** Address of this server: `http(s)://host:port`. */
  readonly url: string;
  /** Ends the server. */
  readonly end: () => void;
}

export class Slice {
  readonly #client: ControllerClient;
  readonly #file: SliceFile;
  readonly #settings: Settings;
  readonly #log: Log;
  readonly #guard: GuardProcess;
  readonly #token: string | undefined;
  #address: SliceAddress = { protocol: 'http', host: '', port: 1 };
  #keeper: LeaseKeeper | undefined;
  #machines: SliceParts['machines'] | undefined;

  private constructor(parts: {
    client: ControllerClient;
    file: SliceFile;
    settings: Settings;
    log: Log;
    token: string | undefined;
  }) {
    this.#client = parts.client;
    this.#file = parts.file;
    this.#settings = parts.settings;
    this.#log = parts.log;
    this.#token = parts.token;
    this.#guard = new GuardProcess(parts.settings.runtimeDirectory, parts.settings.Docker.socket_path);
  }

  /** Opens the slice's identity before the server starts. @throws Error with a sentence for users */
  static async open(joinUrl: string, settings: Settings, log: Log): Promise<Slice> {
    const token = process.env[tokenVariable]?.trim() || undefined;
    // Child processes must not inherit the token.
    delete process.env[tokenVariable];
    const client = new ControllerClient(joinUrl);
    const file = await SliceFile.open(join(settings.dataDirectory, 'state'), log);
    if (token === undefined && file.identity.computeId === null)
      throw new Error(
        `A token is needed to join: make one with patchbay slices invite, and set ${tokenVariable} in the environment`,
      );
    if (token !== undefined && isForAnotherStart(token, file)) await renewSecret(client, file, settings);
    return new Slice({ client, file, settings, log, token });
  }

  /** Requires the secret, which the controller knows from the join, on every request to this server. */
  withCredentials(settings: Settings): Settings {
    const Server = { ...settings.Server, auth: true, user, password: this.#file.identity.secret };
    // The configuration file may be the controller's, which orders slices.
    const Cluster = { ...settings.Cluster, engine: '' };
    return Object.freeze({ ...settings, Server: Object.freeze(Server), Cluster: Object.freeze(Cluster) });
  }

  /** Joins the controller. @throws Error when the controller refuses */
  async begin(parts: SliceParts, advertised: string | undefined): Promise<string> {
    stayAhead();
    // The controller may use this slice already although the slice cannot reach it: the guard ends the machines with the old lease.
    if (this.#file.identity.computeId !== null) await this.#guard.setDeadline(await this.deadline());
    await this.#findAddress(parts.url, advertised);
    const resumed = await this.#resume();
    const { lease, sentAt } = resumed ?? (await this.#join(await parts.findings()));
    const keeper = new LeaseKeeper(
      {
        machines: parts.machines,
        log: this.#log,
        renew: (epoch, signal) => this.#renew(epoch, signal),
        setDeadline: (deadline) => {
          parts.machines.setDeadline(deadline);
          return this.#guard.setDeadline(deadline);
        },
        askEngine: engineWordOf(process.env, this.#settings.dataDirectory),
        isRemoval: (error) => error instanceof RefusedError && error.isFinal,
        onRemoved: parts.end,
      },
      lease,
      sentAt,
    );
    this.#keeper = keeper;
    this.#machines = parts.machines;
    await keeper.begin();
    return lease.compute_id;
  }

  /** Announces the end; resolves when the controller has moved the nodes. The lease is not renewed any more then. Never rejects. */
  async stop(): Promise<void> {
    const keeper = this.#keeper;
    if (!keeper) return;
    // Slurm sends SIGTERM to all processes of a job. Machines that it ends count as running, and are started elsewhere.
    this.#machines?.ending();
    const ask = () => this.#say({ ending: true }).catch(() => undefined);
    for (let answer = await ask(); answer?.moving === true; answer = await ask()) await wait(movingPollMs);
    await keeper.close();
  }

  /** Tells the controller that the machines have been stopped, so that it need not wait for the lease. Never rejects. */
  async leave(): Promise<void> {
    if (this.#keeper)
      await this.#say({ leaving: true }).catch((error: unknown) => {
        this.#log.warn(`The controller does not know that this slice has ended: ${(error as Error).message}`);
      });
    await this.#guard.close();
  }

  #say(what: { ending: true } | { leaving: true }): Promise<SliceLease> {
    const { computeId, secret } = this.#file.identity;
    const body = { secret, epoch: this.#keeper?.epoch ?? 1, address: this.#address, ...what };
    return this.#client.renew(computeId ?? '', body, AbortSignal.timeout(leaveLimitMs));
  }

  async #findAddress(url: string, advertised: string | undefined): Promise<void> {
    const { protocol, port } = new URL(url);
    const { host: listening, clear_credentials: clearCredentials } = this.#settings.Server;
    const local = await this.#untilAnswered(() => this.#client.localAddress({ clearCredentials }));
    const isAny = listening === '0.0.0.0' || listening === '::';
    this.#address = {
      protocol: protocol === 'https:' ? 'https' : 'http',
      host: advertised ?? (isAny ? local : listening),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
    };
  }

  /** Renews the lease from before the restart; undefined: it is over, and the slice has to join. */
  async #resume(): Promise<{ lease: SliceLease; sentAt: number } | undefined> {
    const { computeId, epoch, seconds, asksEngine } = this.#file.identity;
    if (computeId === null) return undefined;
    const deadline = await this.deadline();
    const lease: SliceLease = { compute_id: computeId, epoch, seconds, fenced: false, asks_engine: asksEngine };
    if (this.#token === undefined) return { lease, sentAt: deadline - 2000 * seconds };
    // A new token may be for another controller, which does not know the slice.
    try {
      await this.#renew(epoch, AbortSignal.timeout(10_000));
    } catch (error) {
      if (error instanceof RefusedError && error.isFinal) return undefined;
    }
    return { lease, sentAt: deadline - 2000 * seconds };
  }

  /** Time at which the machines of this slice's earlier server must end, ms of `bootMs()`; 0: none runs. */
  async deadline(): Promise<number> {
    const found = await readDeadline(leaseFileOf(this.#settings.runtimeDirectory));
    return found?.boot === bootId() ? found.deadline : 0;
  }

  async #join(findings: readonly Finding[]): Promise<{ lease: SliceLease; sentAt: number }> {
    const { secret } = this.#file.identity;
    const body = { token: this.#token ?? '', secret, address: this.#address, findings: [...findings] };
    return this.#untilAnswered(async () => {
      const sentAt = bootMs();
      const lease = await this.#client.join(body, AbortSignal.timeout(30_000));
      const joinedWith = hashOf(body.token);
      await this.#file.set({ computeId: lease.compute_id, ...storedOf(lease), joinedWith });
      return { lease, sentAt };
    });
  }

  async #renew(epoch: number, signal: AbortSignal): Promise<SliceLease> {
    const { computeId, secret, ...known } = this.#file.identity;
    const lease = await this.#client.renew(computeId ?? '', { secret, epoch, address: this.#address }, signal);
    // A new epoch is stored once it is confirmed: a server that restarts before must end its machines.
    const stored = storedOf(lease);
    const isOther = stored.epoch !== known.epoch || stored.seconds !== known.seconds || stored.asksEngine !== known.asksEngine;
    if (!lease.fenced && isOther) await this.#file.set(stored);
    return lease;
  }

  /** Retries until the controller answers, because it may start later than the slice. @throws the controller's refusal */
  async #untilAnswered<T>(attempt: () => Promise<T>): Promise<T> {
    const retry = new Retry({ firstMs: 500, longestMs: 10_000 });
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        const { code, name } = error as NodeJS.ErrnoException;
        const isAway = code !== undefined || name === 'TimeoutError' || (error instanceof TypeError && name === 'TypeError');
        if (error instanceof RefusedError ? error.isFinal : !isAway) throw error;
        this.#log.warn(`The controller cannot be reached yet: ${(error as Error).message}`);
        await retry.pause();
      }
    }
  }
}

/** Whether the token belongs to another start of the slice: it names this compute, but the slice joined with a different one. */
function isForAnotherStart(token: string, { identity: { computeId, joinedWith } }: SliceFile): boolean {
  return computeId !== null && token.endsWith(computeId) && hashOf(token) !== joinedWith;
}

/**
 * Replaces the secret of a slice that an engine placed again. On a shared disk the new slice and the old one, on a host that lost
 * contact, have the same folder. After the old lease, the new one joins with another secret and the controller refuses the old one.
 * With one secret the controller would take both for the same slice.
 */
async function renewSecret(client: ControllerClient, file: SliceFile, { Server }: Settings): Promise<void> {
  const { computeId, secret, epoch } = file.identity;
  try {
    await client.localAddress({ clearCredentials: Server.clear_credentials });
    // No lease has this epoch: nothing is renewed, and the answer contains the current epoch.
    const question = { secret, epoch: Number.MAX_SAFE_INTEGER, address: { protocol: 'http' as const, host: '127.0.0.1', port: 1 } };
    const lease = await client.renew(computeId ?? '', question, AbortSignal.timeout(10_000));
    if (lease.epoch !== epoch) await file.set({ computeId: null, secret: newSecret() });
  } catch {
    // The slice asks again when it joins.
  }
}

function storedOf({ epoch, seconds, asks_engine: asksEngine = false }: SliceLease) {
  return { epoch, seconds, asksEngine };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
