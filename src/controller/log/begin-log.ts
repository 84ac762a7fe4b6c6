/** Writes the log and the history of a project that is not open, and the header with which a log begins. */
import { Journal } from '../../lib/journal.ts';
import { historyPath } from './project-history.ts';
import { logPath } from './project-state.ts';
import type { LogLine, LogRecord, RecordOf, SnapshotHeader } from './records.ts';

interface NewLog extends Pick<SnapshotHeader, 'wanted' | 'incarnation'> {
  /** Number of the last change before those of the log. */
  readonly seq: number;
  /** Changes until then. */
  readonly history: readonly LogRecord[];
}

/**
 * Begins the log and the history of the project file, or replaces both. Whenever the server dies, the history reaches at least as far as the
 * log says.
 */
export async function beginLog(file: string, { seq, history, wanted, incarnation }: NewLog): Promise<void> {
  const event = { udp_ports: {}, history: seq, ...(wanted && { wanted }), ...(incarnation && { incarnation }) };
  if (history.length > 0) await write(historyPath(file), history);
  await write(logPath(file), [headerOf(seq, event)]);
}

export function headerOf(seq: number, event: SnapshotHeader): RecordOf<'project.snapshot'> {
  return { seq, at: new Date().toISOString(), by: null, action: 'project.snapshot', event, was: null };
}

async function write(path: string, records: readonly LogRecord[]): Promise<void> {
  const { journal } = await Journal.open<LogLine>(path);
  await journal.restart(() => records).finally(() => journal.close());
}
