/** Least time between two reports of an export's or import's progress (`project.progress`) to listeners of the controller. */
const everyMs = 500;

export interface Progress {
  readonly project_id: string;
  readonly what: 'export' | 'import';
  readonly done_bytes: number;
  /** Null while it is not known: an upload has no length. */
  readonly total_bytes: number | null;
}

export type Announce = (action: string, event: object) => void;

export function makeProgress(announce: Announce, subject: Pick<Progress, 'project_id' | 'what'>) {
  let next = 0;
  return (done_bytes: number, total_bytes: number | null): void => {
    const now = performance.now();
    if (now < next && done_bytes !== total_bytes) return;
    next = now + everyMs;
    const event: Progress = { ...subject, done_bytes, total_bytes };
    announce('project.progress', event);
  };
}
