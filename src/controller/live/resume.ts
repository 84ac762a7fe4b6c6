/** Listening from a change on: first what was missed since, then what happens, each once and in order. */

import type { Log } from '../../lib/log.ts';
import { resetAction, resumedAction, type StreamReset, type StreamResumed } from '../../schema/notification.ts';
import type { Notice } from './host/project-context.ts';
import type { LiveProject, Missed } from './live-project.ts';

interface Resumable {
  listen(listener: (notice: Notice) => void): () => void;
  findLive(): Promise<LiveProject | undefined>;
}

/** Returns a `listen` for the project that first replays the changes after `since`. Notices that arrive during the replay follow it. */
export function resume(project: Resumable, since: number, log: Log) {
  return (listener: (notice: Notice) => void): (() => void) => {
    let waiting: Notice[] | undefined = [];
    const leave = project.listen((notice) => {
      if (waiting) waiting.push(notice);
      else listener(notice);
    });
    const begin = (missed: Missed) => {
      const early = waiting ?? [];
      waiting = undefined;
      const isSent = ({ seq }: Notice) => typeof missed === 'object' && seq !== undefined && seq <= missed.seq;
      for (const notice of [...noticesOf(missed, since), ...early.filter((each) => !isSent(each))]) listener(notice);
    };
    missed(project, since).then(begin, (error: unknown) => {
      log.warn({ err: error }, 'the history of a project could not be read');
      begin('too_old');
    });
    return leave;
  };
}

async function missed(project: Resumable, since: number): Promise<Missed> {
  return (await project.findLive())?.missed(since) ?? 'closed';
}

function noticesOf(missed: Missed, since: number): readonly Notice[] {
  if (typeof missed === 'string') return [{ action: resetAction, event: { since, reason: missed } satisfies StreamReset }];
  const event: StreamResumed = { since, seq: missed.seq };
  return [{ action: resumedAction, event }, ...missed.notices];
}
