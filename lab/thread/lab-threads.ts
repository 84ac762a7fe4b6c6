/** Runs lab files from clients in threads, with limits of time and memory. */
import { AsyncResource } from 'node:async_hooks';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { fault } from '../../src/api/faults.ts';
import type { Call } from '../../src/api/route.ts';
import { FairLimit } from '../../src/lib/fair-limit.ts';
import { messagesOf } from '../../src/lib/thread-messages.ts';
import type { RoutesApi } from '../state/routes-api.ts';
import type { LabJob, LabMessage, LabWork, ThreadAnswer, ThreadCall, ThreadRequest } from './lab-job.ts';
import { joinWire } from './thread-wires.ts';

/** Processor time of one thread, which does not depend on the machine's load. Ms. */
const cpuLimitMs = 10_000;
const checkEveryMs = 500;
const memoryLimitMiB = 256;

interface ThreadKind {
  /** Module that the thread runs. */
  readonly thread: URL;
  /** Threads at the same time. */
  readonly places: { readonly total: number; readonly each: number };
  /** Time in which a thread ends by itself when its client has left, which it hears by a message; 0: it is ended at once. */
  readonly graceMs: number;
}

const planThreads: ThreadKind = { thread: new URL('./lab-thread.ts', import.meta.url), places: { total: 6, each: 3 }, graceMs: 0 };

export class LabThreads {
  readonly #limit: FairLimit;
  readonly #api: RoutesApi;
  readonly #kind: ThreadKind;

  constructor(api: RoutesApi, kind = planThreads) {
    this.#api = api;
    this.#kind = kind;
    this.#limit = new FairLimit(kind.places);
  }

  /**
   * Runs a job and yields the thread's output in pieces; the first one comes when the lab is planned. The thread's requests have
   * the caller's requester. The run ends when the client disconnects. @throws `lab_invalid`, and the error of a request that the
   * thread made
   */
  async *run(job: LabJob, { client = '', signal }: Pick<Call, 'client' | 'signal'>): AsyncGenerator<Uint8Array> {
    await this.#limit.enter(client);
    if (signal.aborted) {
      this.#limit.leave(client);
      return;
    }
    const { port1: requests, port2 } = new MessageChannel();
    const errors = this.#answer(requests);
    const worker = new Worker(this.#kind.thread, {
      workerData: { ...job, requests: port2 } satisfies LabWork,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMiB },
      // The thread does not inherit the server's Node options.
      execArgv: [],
    });
    const messages = messagesOf<LabMessage>(worker);
    let overdue: NodeJS.Timeout | undefined;
    const end = () => {
      worker.postMessage('end');
      overdue = setTimeout(() => void worker.terminate(), this.#kind.graceMs);
    };
    signal.addEventListener('abort', end);
    const timer = setInterval(() => void endOverdue(worker), checkEveryMs);
    try {
      for await (const message of messages) {
        if (message.what === 'piece') yield message.bytes;
        else if (message.what === 'end') return;
        else throw 'words' in message.by ? fault('lab_invalid', { reason: message.by.words }) : errors.get(message.by.request);
      }
      if (!signal.aborted) throw tooLarge();
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error;
    } finally {
      clearInterval(timer);
      clearTimeout(overdue);
      signal.removeEventListener('abort', end);
      requests.close();
      await worker.terminate();
      this.#limit.leave(client);
    }
  }

  /** Answers requests from a port. @returns errors of failed ones, by their ids */
  #answer(port: MessagePort): ReadonlyMap<number, unknown> {
    const errors = new Map<number, unknown>();
    const answer = async ({ id, method, path, body }: ThreadRequest): Promise<ThreadAnswer> => {
      try {
        return { id, body: await this.#api.read(method, path, body) };
      } catch (error) {
        errors.set(id, error);
        const { message, status = 500 } = error as Error & { status?: number };
        return { id, error: { message, status } };
      }
    };
    // The listener is bound to this request's context, so that changes are attributed to the requester that sent the lab.
    port.on(
      'message',
      AsyncResource.bind(async (call: ThreadCall) => {
        if ('wire' in call) await joinWire(this.#api, call.wire);
        else port.postMessage(await answer(call));
      }),
    );
    return errors;
  }
}

async function endOverdue(worker: Worker): Promise<void> {
  // A thread that has ended has no processor time.
  const usage = await worker.cpuUsage().catch(() => undefined);
  if (usage && (usage.user + usage.system) / 1000 > cpuLimitMs) await worker.terminate();
}

function tooLarge(): Error {
  const limits = `${cpuLimitMs / 1000} s of processor time or ${memoryLimitMiB} MiB`;
  return fault('lab_invalid', { reason: `it took more than ${limits}. Use a simpler file, or divide it` });
}
