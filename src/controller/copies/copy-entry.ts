/** What is known of the copy of a node's files without looking at it. */
import { flag, nullable, object, optional, text, whole } from '../../lib/shape.ts';

export interface CopyEntry {
  readonly project_id: string;
  readonly node_type: string;
  /** Whose files they are. */
  readonly compute_id: string;
  /** ISO 8601; null: there is no copy yet. */
  readonly copied_at: string | null;
  /** Of the lease of the slice under which they were there; absent: not known, as it was written by an earlier version. */
  readonly epoch?: number | undefined;
  /** They may have changed since. */
  readonly is_due: boolean;
  /** As a grown `epoch` says it; written by earlier versions. */
  readonly is_lost: boolean;
  /** Its last compute was lost, and it began here with the files of that time. */
  readonly started_from: string | null;
}

const shape = object({
  project_id: text,
  node_type: text,
  compute_id: text,
  copied_at: nullable(text),
  epoch: optional(whole(0)),
  is_due: flag,
  is_lost: flag,
  started_from: nullable(text),
});

export function isCopyEntry(value: unknown): value is CopyEntry {
  return shape.problem(value, 'the copy') === undefined;
}
