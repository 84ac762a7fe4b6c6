/**
 * Nodes of lost slices for which no compute had room: they are looked at again every few seconds, as room may come from anywhere. Not stored:
 * where a node is and that its slice is lost are, and a project that is opened adds its nodes.
 */
import type { RegisteredCompute } from '../computes/compute.ts';

export interface WaitingNode {
  readonly projectId: string;
  readonly nodeId: string;
  /** That it is on, and that is lost. */
  readonly compute: RegisteredCompute;
}

const everyMs = 3_000;

export class WaitingNodes {
  readonly #nodes = new Map<string, WaitingNode>();
  readonly #retry: (nodes: readonly WaitingNode[]) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #retrying: Promise<void> | undefined;

  /** `retry`: adds those again for which there is still no room. Never rejects. */
  constructor(retry: (nodes: readonly WaitingNode[]) => Promise<void>) {
    this.#retry = retry;
  }

  add(node: WaitingNode): void {
    this.#nodes.set(`${node.projectId} ${node.nodeId}`, node);
    this.#timer ??= setInterval(() => this.#look(), everyMs).unref();
  }

  /** Resolves when none is being moved. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#nodes.clear();
    await this.#retrying;
    clearInterval(this.#timer);
  }

  #look(): void {
    if (this.#retrying) return;
    const nodes = [...this.#nodes.values()];
    this.#nodes.clear();
    if (nodes.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#retrying = this.#retry(nodes).finally(() => {
      this.#retrying = undefined;
    });
  }
}
