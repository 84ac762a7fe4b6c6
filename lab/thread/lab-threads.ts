/** Runs lab files that clients sent in threads, with limits of time and memory. */
import { AsyncResource } from 'node:async_hooks';
import { on } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { fault } from '../../src/api/faults.ts';
import type { Call } from '../../src/api/route.ts';
import { FairLimit } from '../../src/lib/fair-limit.ts';
import type { RoutesApi } from '../state/routes-api.ts';
import type { LabJob, LabMessage, LabWork, ThreadAnswer, ThreadRequest } from './lab-job.ts';

/** Processor time of one thread: a busy machine changes nothing. */
const cpuLimitMs = 10_000;
const checkEveryMs = 500;
const memoryLimitMiB = 256;
const places = { total: 6, each: 3 };

export class LabThreads {
  readonly #limit = new FairLimit(places);
  readonly #api: RoutesApi;

  constructor(api: RoutesApi) {
    this.#api = api;
  }

  /**
   * What the thread sends, piece by piece; the first comes when the lab is planned. Its requests are made as the requester that called.
   * It ends when the client disconnects. @throws `lab_invalid`, and the error of a request that the thread made
   */
  async *run(job: LabJob, { client = '', signal }: Pick<Call, 'client' | 'signal'>): AsyncGenerator<Uint8Array> {
    await this.#limit.enter(client);
    if (signal.aborted) {
      this.#limit.leave(client);
      return;
    }
    const { port1: requests, port2 } = new MessageChannel();
    const errors = this.#answer(requests);
    const worker = new Worker(new URL('./lab-thread.ts', import.meta.url), {
      workerData: { ...job, requests: port2 } satisfies LabWork,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMiB },
      // What the server was started with is not the thread's.
      execArgv: [],
    });
    // One that comes after the last message that was read: without a listener it would end the server.
    worker.on('error', () => undefined);
    const end = () => void worker.terminate();
    signal.addEventListener('abort', end);
    const timer = setInterval(() => void endOverdue(worker), checkEveryMs);
    try {
      for await (const [message] of on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[LabMessage]>) {
        if (message.what === 'piece') yield message.bytes;
        else if (message.what === 'end') return;
        else throw 'words' in message.by ? fault('lab_invalid', { reason: message.by.words }) : errors.get(message.by.request);
      }
      if (!signal.aborted) throw tooLarge();
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error;
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', end);
      requests.close();
      await worker.terminate();
      this.#limit.leave(client);
    }
  }

  /** Answers requests that come by a port. @returns errors of those that failed, by their ids */
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
    // Bound: what a request changes is put down to the requester that sent the lab.
    port.on(
      'message',
      AsyncResource.bind(async (request: ThreadRequest) => port.postMessage(await answer(request))),
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
