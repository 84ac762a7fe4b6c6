/** Events of a project in order of time: changes, snapshots and captures. */
import type { CaptureFile } from '../../../src/schema/capture.ts';
import type { Snapshot } from '../../../src/schema/snapshot.ts';
import type { ActivityStep } from '../../dialogs/activity.ts';

interface EventTime {
  readonly key: string;
  readonly atMs: number;
}
interface StepEvent extends EventTime {
  readonly kind: 'step';
  readonly step: ActivityStep;
}
export interface SnapshotEvent extends EventTime {
  readonly kind: 'snapshot';
  readonly snapshot: Snapshot;
}
export interface CaptureEvent extends EventTime {
  readonly kind: 'capture';
  /** Time of the last frame, of a running capture the present. */
  readonly endMs: number;
  readonly file: CaptureFile;
}
export type LineEvent = StepEvent | SnapshotEvent | CaptureEvent;

interface Happened {
  readonly steps: readonly ActivityStep[];
  readonly snapshots: readonly Snapshot[];
  readonly captures: readonly CaptureFile[];
  readonly nowMs: number;
}

/** Returns the events, the oldest first. Captures without a frame have no place in time. */
export function lineEvents({ steps, snapshots, captures, nowMs }: Happened): LineEvent[] {
  const events: LineEvent[] = [
    ...steps.map((step): LineEvent => ({ kind: 'step', key: `step ${step.seq}`, atMs: Date.parse(step.at), step })),
    ...snapshots.map(
      (snapshot): LineEvent => ({
        kind: 'snapshot',
        key: `snapshot ${snapshot.snapshot_id}`,
        // The server rounds down to whole seconds.
        atMs: snapshot.created_at * 1000 + 500,
        snapshot,
      }),
    ),
    ...captures.flatMap((file): LineEvent[] => {
      const atMs = Date.parse(file.started ?? '');
      if (Number.isNaN(atMs)) return [];
      const endMs = Math.max(atMs, file.capturing ? nowMs : Date.parse(file.modified ?? '') || atMs);
      return [{ kind: 'capture', key: `capture ${file.name}`, atMs, endMs, file }];
    }),
  ];
  return events.sort((one, other) => one.atMs - other.atMs);
}
