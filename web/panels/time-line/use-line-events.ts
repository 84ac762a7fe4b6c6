/** The events of the open project, read when the time line opens and kept up to date. */
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { CaptureFile } from '../../../src/schema/capture.ts';
import type { Snapshot } from '../../../src/schema/snapshot.ts';
import { useActivity } from '../../dialogs/use-activity.ts';
import { useApp } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import { lineEvents } from './line-events.ts';
import { LineLayout } from './line-layout.ts';

/** Entries of the history that are shown: as many as the server answers at once. */
const historyEntries = 1_000;
/** Changes of so long are read at once. Milliseconds. */
const togetherMs = 400;

export function useLineEvents(project: ProjectState, snapshots: readonly Snapshot[]) {
  const { tools } = useApp();
  const activity = useActivity(project, historyEntries);
  const captures = useCaptures(project);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const refresh = useRef(activity.refresh);
  refresh.current = activity.refresh;
  useSignalEffect(() => {
    void [project.nodes.all.value, project.links.all.value, project.drawings.all.value, project.project.value];
    const read = () => {
      timer.current = undefined;
      // A drag has the frames for itself, and changes the history at its end.
      if (tools.pressing.peek()) schedule();
      // The connection bar reports an absent server.
      else refresh.current().catch(() => undefined);
    };
    const schedule = () => {
      timer.current ??= setTimeout(read, togetherMs);
    };
    schedule();
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const layout = useMemo(() => {
    const nowMs = Date.now();
    return new LineLayout(lineEvents({ steps: activity.steps ?? [], snapshots, captures, nowMs }), nowMs);
  }, [activity.steps, snapshots, captures]);
  return { activity, layout };
}

/** Capture files, read again whenever a capture begins or ends. */
function useCaptures(project: ProjectState): readonly CaptureFile[] {
  const { api, server, toasts } = useApp();
  const files = useSignal<readonly CaptureFile[]>([]);
  const capturing = useComputed(() =>
    project.links.all.value
      .flatMap(({ link_id, capturing: runs, capture_file_name: name }) => (runs || name ? [`${link_id} ${runs} ${name}`] : []))
      .join('\n'),
  );
  useEffect(() => {
    if (!server.rights.may('Link.Capture', `/projects/${project.id}`)) return;
    void toasts.attempt(async () => {
      files.value = await api.get<CaptureFile[]>(`${project.path}/captures`);
    });
  }, [capturing.value]);
  return files.value;
}
