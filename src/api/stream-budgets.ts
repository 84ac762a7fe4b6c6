/**
 * Limits the bytes that wait for clients that do not read. All streams of a client share one budget: above it, the stream with the
 * most waiting bytes ends and the others continue.
 */
export interface BudgetedStream {
  /** Bytes that wait for the client. */
  readonly waitingBytes: number;
  /** Drops the waiting bytes, tells the client the reason, and ends. */
  endSlow(): void;
}

interface ClientStreams {
  readonly bytes: Map<BudgetedStream, number>;
  /** Sum of `bytes`. It includes bytes that were read since a stream's last message. */
  total: number;
}

class StreamBudgets {
  readonly #limitBytes: number;
  readonly #clients = new Map<string, ClientStreams>();

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Must be called when `stream` has more waiting bytes; ends the client's slowest stream above the budget. */
  grown(client: string, stream: BudgetedStream): void {
    const streams = this.#clients.get(client) ?? { bytes: new Map<BudgetedStream, number>(), total: 0 };
    this.#clients.set(client, streams);
    count(streams, stream);
    if (streams.total <= this.#limitBytes) return;
    for (const each of streams.bytes.keys()) count(streams, each);
    while (streams.total > this.#limitBytes) {
      const [[slowest] = []] = [...streams.bytes].sort(([, one], [, other]) => other - one);
      if (!slowest) return;
      this.left(client, slowest);
      slowest.endSlow();
    }
  }

  left(client: string, stream: BudgetedStream): void {
    const streams = this.#clients.get(client);
    if (!streams) return;
    streams.total -= streams.bytes.get(stream) ?? 0;
    streams.bytes.delete(stream);
    if (streams.bytes.size === 0) this.#clients.delete(client);
  }
}

/** The budgets of all streams of this process. */
export const streamBudgets = new StreamBudgets(16 * 1024 * 1024);

function count(streams: ClientStreams, stream: BudgetedStream): void {
  const now = stream.waitingBytes;
  streams.total += now - (streams.bytes.get(stream) ?? 0);
  streams.bytes.set(stream, now);
}
