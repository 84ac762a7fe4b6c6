/**
 * Beliefs that clients may have from the answers they got: whether a project is open, and whether a node is wanted. A request that
 * was answered counts; of those that overlapped with it, or were never answered, either outcome is possible.
 */

/** A fact with few values. */
export class Belief<V> {
  #possible: Set<V>;
  readonly #open = new Set<Claim<V>>();

  constructor(value: V) {
    this.#possible = new Set([value]);
  }

  /** A request that makes it so is sent. */
  begin(value: V): Claim<V> {
    const claim: Claim<V> = { value, before: [...this.#possible], others: [...this.#open].map((other) => other.value) };
    for (const other of this.#open) other.others.push(value);
    this.#open.add(claim);
    this.#possible.add(value);
    return claim;
  }

  /** `isDone`: it was answered with success. Otherwise it may have been done all the same, or in part. */
  end(claim: Claim<V>, isDone: boolean): void {
    if (!this.#open.delete(claim)) return;
    if (isDone) this.#possible = new Set([claim.value, ...claim.others]);
  }

  /** Records that the request was refused, which leaves the value as before. */
  refuse(claim: Claim<V>): void {
    if (this.#open.delete(claim)) this.#possible = new Set([...claim.before, ...claim.others]);
  }

  /** Records that the value may have become so without a request. */
  mayBe(value: V): void {
    this.#possible.add(value);
    for (const claim of this.#open) claim.others.push(value);
  }

  allows(value: V): boolean {
    return this.#possible.has(value);
  }

  get possible(): V[] {
    return [...this.#possible];
  }
}

export interface Claim<V> {
  readonly value: V;
  /** Values that were possible when the claim began. */
  readonly before: readonly V[];
  readonly others: V[];
}

/** Ends a claim: its request was done, refused before anything was done, or neither is known. */
export type EndClaim = (outcome: 'done' | 'refused' | 'unknown') => void;

/** Claims that the request will make it so. */
export function claimOf<V>(belief: Belief<V>, value: V): () => EndClaim {
  return () => {
    const claim = belief.begin(value);
    return (outcome) => (outcome === 'refused' ? belief.refuse(claim) : belief.end(claim, outcome === 'done'));
  };
}

/** Claims that the request may make it so, or not. */
export function maybeOf<V>(belief: Belief<V>, value: V): () => EndClaim {
  return () => {
    const claim = belief.begin(value);
    return () => belief.end(claim, false);
  };
}

/** Facts about a node that are known outside of the controller. */
export interface NodeFacts {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly run: Belief<'running' | 'stopped'>;
  readonly isThere: Belief<boolean>;
  /** Times at which the controller started or stopped the node. */
  readonly actions: number[];
  /** Times at which clients asked for something that may start or stop the node. */
  readonly asked: number[];
  /** Time at which a client last asked for something that may move the node. */
  moved?: number;
  /** A client has asked for it to be suspended. */
  mayBeSuspended?: boolean;
}

export interface ProjectFacts {
  readonly id: string;
  readonly isOpen: Belief<boolean>;
  hasAutoStart: Belief<boolean>;
}
