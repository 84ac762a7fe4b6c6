/** Changes of a project that is closed: they go into its log and its file, like those of an open one. */
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../lib/log.ts';
import { toProjectEntry } from '../log/actions/project-rules.ts';
import { ProjectLog } from '../log/project-log.ts';
import { topologyOf } from '../log/project-state.ts';
import type { ProjectChange } from '../log/records.ts';
import type { ProjectEntry } from '../model/topology.ts';
import { isUndoable } from '../model/view-settings.ts';

/**
 * Makes a change of a closed project's own fields durable, and returns them; undefined when they are these already.
 * @throws `storage_failed`; when file or log cannot be read
 */
export async function updateClosed(
  file: string,
  fields: object,
  { version, log: serverLog }: { version: string; log: Log },
): Promise<ProjectEntry | undefined> {
  const onSnapshotFailed = (error: unknown) => serverLog.warn({ err: error }, `${file} could not be written; its log has all`);
  const { start, state } = await ProjectLog.open(file, { version, onSnapshotFailed });
  const log = start(() => ({
    topology: topologyOf(state),
    udpPorts: {},
    incarnation: state.incarnation,
    wanted: Object.fromEntries(state.wanted),
    deleting: [...state.deleting],
  }));
  try {
    const was = state.project;
    const entry = toProjectEntry(was, fields);
    if (isDeepStrictEqual(entry, was)) return undefined;
    const change: ProjectChange = { action: 'project.updated', event: entry, was, undoable: isUndoable(was, entry) };
    await log.append(change, () => {
      state.project = entry;
    });
    await log.writeSnapshot().catch(onSnapshotFailed);
    return entry;
  } finally {
    await log.close();
  }
}
