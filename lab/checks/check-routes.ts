/** The route that runs the checks of a lab file on an open project, in a thread that calls the server's own routes. */
import { fault } from '../../src/api/faults.ts';
import { type Route, route } from '../../src/api/route.ts';
import { LabChecks } from '../../src/schema/lab.ts';
import type { Project } from '../../src/schema/project.ts';
import type { RoutesApi } from '../state/routes-api.ts';
import { jobOf, type LabJob } from '../thread/lab-job.ts';
import { LabThreads } from '../thread/lab-threads.ts';
import { lineStream } from '../thread/line-stream.ts';
import type { HostCommand } from './api/check-api.ts';
import type { CheckJob } from './thread/check-thread.ts';

/** Projects whose checks run at the same time. */
const most = 4;

/** Time in which a run ends its captures when its client has left. */
const graceMs = 5000;

interface CheckMeans {
  /** Returns the command that runs tcpdump for clients, confined. */
  readonly tcpdump: () => Promise<HostCommand>;
  /** Logs an error. */
  readonly onError: (error: unknown) => void;
}

/** `api`: the server itself. */
export function checkRoutes(api: RoutesApi, { tcpdump, onError }: CheckMeans): Route[] {
  const threads = new LabThreads(api, {
    thread: new URL('./thread/check-thread.ts', import.meta.url),
    places: { total: most, each: most },
    graceMs,
  });
  const running = new Set<string>();
  return [
    route(
      'POST /v2/projects/{project_id}/checks',
      {
        right: 'Project.Audit',
        summary:
          'Run the checks of a lab file on a running project; one JSON document a line while they run, and the verdict at last',
        body: LabChecks,
        replyType: 'application/x-ndjson',
        own: true,
      },
      async (call) => {
        const { project_id } = call.path;
        const { name, status } = await api.json<Project>('GET', `/v2/projects/${project_id}`);
        if (status !== 'opened') throw fault('project_closed', { name: name ?? '' });
        const job = { ...jobOf('check', { ...call.body, project: project_id }), tcpdump: await tcpdump() } satisfies LabJob &
          CheckJob;
        if (running.has(project_id)) throw fault('checks_running', { name: name ?? '' });
        if (running.size >= most) throw fault('checks_busy', { limit: most });
        running.add(project_id);
        const pieces = threads.run(job, call);
        return lineStream(
          whileRunning(pieces, () => running.delete(project_id)),
          onError,
        );
      },
    ),
  ];
}

async function* whileRunning(pieces: AsyncIterable<Uint8Array>, ended: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } finally {
    ended();
  }
}
