/** The picture of a snapshot, on the canvas as well while it is looked at. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LabPlanReply } from '../../../src/schema/lab.ts';
import type { SnapshotOutline } from '../../../src/schema/outline.ts';
import type { Snapshot } from '../../../src/schema/snapshot.ts';
import { useApp, useProject } from '../../state/app.ts';
import { planOf } from './outline-plan.ts';

/** A pointer that only passes by reads nothing. Milliseconds. */
const restMs = 80;

/** Outlines that were read, by the ids of their snapshots, which do not change. */
export type Outlines = Map<string, SnapshotOutline>;

interface Picture {
  readonly plan: LabPlanReply | undefined;
  /** Why there is none. */
  readonly failure: string;
}

/** Compares the snapshot with the present. */
export function useOutline({ snapshot_id }: Snapshot, outlines: Outlines): Picture {
  const { api } = useApp();
  const project = useProject();
  const outline = useSignal(outlines.get(snapshot_id));
  const failure = useSignal('');
  useEffect(() => {
    if (outline.peek()) return undefined;
    const read = async () => {
      const found = await api.get<SnapshotOutline>(`${project.path}/snapshots/${snapshot_id}/outline`);
      outlines.set(snapshot_id, found);
      outline.value = found;
    };
    const timer = setTimeout(() => {
      read().catch((error: Error) => (failure.value = error.message));
    }, restMs);
    return () => clearTimeout(timer);
  }, [snapshot_id]);
  const plan = useComputed(
    () => outline.value && planOf(outline.value, { nodes: project.nodes.all.value, links: project.links.all.value }),
  );
  return { plan: plan.value, failure: failure.value };
}
