/** A compute that registers itself with a controller: `patchbay compute --join URL`. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bootId, bootMs } from '../lib/boot-clock.ts';
import type { Log } from '../lib/log.ts';
import { Retry } from '../lib/retry.ts';
import type { Finding } from '../schema/finding.ts';
import type { Settings } from '../schema/settings.ts';
import type { SliceAddress, SliceLease } from '../schema/slice.ts';
import { ControllerClient, RefusedError } from './controller-client.ts';
import { GuardProcess } from './guard-process.ts';
import { leaseFileOf, readDeadline } from './lease-file.ts';
import { LeaseKeeper, type Machines } from './lease-keeper.ts';
import { newSecret, SliceFile } from './slice-file.ts';

/** Of the environment: the one-time token. */
const tokenVariable = 'PATCHBAY_JOIN';
/** The user of its compute. */
const user = 'patchbay';
const leaveLimitMs = 3_000;
/** While its nodes are moved to other slices. */
const movingPollMs = 500;

export interface SliceParts {
  readonly machines: Machines & { setDeadline(deadline: number): void; ending(): void };
  readonly findings: () => Promise<readonly Finding[]>;
  /** Where this server listens: `http(s)://host:port`. */
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

  /** Before the server starts. @throws Error with a sentence for people */
  static async open(joinUrl: string, settings: Settings, log: Log): Promise<Slice> {
    const token = process.env[tokenVariable]?.trim() || undefined;
    // Children of this process must not have it.
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

  /** Requests to this server need what its controller has from the join. */
  withCredentials(settings: Settings): Settings {
    const Server = { ...settings.Server, auth: true, user, password: this.#file.identity.secret };
    // The configuration may be that of its controller, which orders slices.
    const Cluster = { ...settings.Cluster, engine: '' };
    return Object.freeze({ ...settings, Server: Object.freeze(Server), Cluster: Object.freeze(Cluster) });
  }

  /** Resolves when it has joined. @throws Error when the controller refuses it */
  async begin(parts: SliceParts, advertised: string | undefined): Promise<string> {
    // The controller may speak to it already, and not be reached itself: nothing runs for longer than the old lease.
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

  /** Resolves when the controller moves no more of what runs; no lease is renewed any more then. Never rejects. */
  async stop(): Promise<void> {
    const keeper = this.#keeper;
    if (!keeper) return;
    // Slurm sends SIGTERM to all processes of a job: machines that end by it ran, and are started elsewhere.
    this.#machines?.ending();
    const ask = () => this.#say({ ending: true }).catch(() => undefined);
    for (let answer = await ask(); answer?.moving === true; answer = await ask()) await wait(movingPollMs);
    await keeper.close();
  }

  /** Its machines have been stopped: the controller need not wait for the lease. Never rejects. */
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

  /** The lease that it had before it was started again, as far as it is not over. Undefined: it has to join. */
  async #resume(): Promise<{ lease: SliceLease; sentAt: number } | undefined> {
    const { computeId, epoch, seconds } = this.#file.identity;
    if (computeId === null) return undefined;
    const deadline = await this.deadline();
    const lease: SliceLease = { compute_id: computeId, epoch, seconds, fenced: false };
    if (this.#token === undefined) return { lease, sentAt: deadline - 2000 * seconds };
    // A new token may be for another controller, which does not know it.
    try {
      await this.#renew(epoch, AbortSignal.timeout(10_000));
    } catch (error) {
      if (error instanceof RefusedError && error.isFinal) return undefined;
    }
    return { lease, sentAt: deadline - 2000 * seconds };
  }

  /** When the machines of an earlier server of this slice have to end. `bootMs()`; 0: none runs. */
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
      await this.#file.set({ computeId: lease.compute_id, epoch: lease.epoch, seconds: lease.seconds, joinedWith });
      return { lease, sentAt };
    });
  }

  async #renew(epoch: number, signal: AbortSignal): Promise<SliceLease> {
    const { computeId, secret, ...known } = this.#file.identity;
    const lease = await this.#client.renew(computeId ?? '', { secret, epoch, address: this.#address }, signal);
    // A next epoch is stored when it was confirmed: a server that starts again before has machines to end.
    if (!lease.fenced && (lease.epoch !== known.epoch || lease.seconds !== known.seconds))
      await this.#file.set({ epoch: lease.epoch, seconds: lease.seconds });
    return lease;
  }

  /** The controller may start later than this. @throws what it refuses for */
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

/** A token names its compute. One that was used may still be in the environment. */
function isForAnotherStart(token: string, { identity: { computeId, joinedWith } }: SliceFile): boolean {
  return computeId !== null && token.endsWith(computeId) && hashOf(token) !== joinedWith;
}

/**
 * A slice that an engine placed again finds its folder where hosts share it, and so may the one before it, on a host that was cut off: when the
 * old lease is over it joins with another secret, and the old one is refused. Else the controller would take both for the same.
 */
async function renewSecret(client: ControllerClient, file: SliceFile, { Server }: Settings): Promise<void> {
  const { computeId, secret, epoch } = file.identity;
  try {
    await client.localAddress({ clearCredentials: Server.clear_credentials });
    // No lease has this epoch: nothing is renewed, and the answer names the one that counts.
    const question = { secret, epoch: Number.MAX_SAFE_INTEGER, address: { protocol: 'http' as const, host: '127.0.0.1', port: 1 } };
    const lease = await client.renew(computeId ?? '', question, AbortSignal.timeout(10_000));
    if (lease.epoch !== epoch) await file.set({ computeId: null, secret: newSecret() });
  } catch {
    // It is asked again when it joins.
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
