/** Things that are made everywhere but in the project: committed they are part of it, reverted nothing is left of them. */
import type { Commit } from './project-context.ts';

export interface Prepared<T> {
  readonly commit: Commit;
  /** Reverts the preparation. Never rejects. */
  revert(): Promise<void>;
  /** The object of the API, once committed. */
  result(): T;
}

/** @throws `storage_failed`; nothing is left of them then */
export async function commitPrepared(
  host: { commitAll(commits: readonly Commit[]): Promise<void> },
  prepared: readonly Prepared<unknown>[],
): Promise<void> {
  try {
    await host.commitAll(prepared.map(({ commit }) => commit));
  } catch (error) {
    await revertAll(prepared);
    throw error;
  }
}

/** The last first: links before the nodes that they join. */
export async function revertAll(prepared: readonly Prepared<unknown>[]): Promise<void> {
  for (const each of prepared.toReversed()) await each.revert();
}
