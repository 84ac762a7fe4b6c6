/** Record of a copy of a node's files, which is known without a look at the copy. */
import { flag, nullable, object, optional, text, whole } from '../../lib/shape.ts';

export interface CopyEntry {
  readonly project_id: string;
  readonly node_type: string;
  /** Compute that the files are from. */
  readonly compute_id: string;
  /** ISO 8601; null: there is no copy yet. */
  readonly copied_at: string | null;
  /** Epoch of the slice's lease under which the files were there; absent: not known, as an earlier version wrote the entry. */
  readonly epoch?: number | undefined;
  /** The node's files may have changed since they were copied. */
  readonly is_due: boolean;
  /** The files' slice was lost, as a grown `epoch` also says; written by earlier versions. */
  readonly is_lost: boolean;
  /** Time of the copy from which the node began here after its last compute was lost; null: it did not. */
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
