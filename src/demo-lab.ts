/** Builds the demo's guest for the page, in a separate process because it takes seconds of processor time. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fault } from './api/faults.ts';
import { type Route, route, Stream } from './api/route.ts';
import type { Settings } from './schema/settings.ts';

const script = join(import.meta.dirname, '../demo/lab.ts');

export function demoLabRoute({ Server }: Pick<Settings, 'Server'>): Route {
  return route(
    'POST /v2/demo_lab',
    {
      right: 'Project.Allocate /projects',
      summary: 'Make the images of the demo lab; tells of its progress, one JSON document a line. Local servers only',
      replyType: 'application/x-ndjson',
      own: true,
    },
    ({ signal }) => {
      if (!Server.local) throw fault('not_local', { what: 'to have the guest of the demo made' });
      const child = spawn(process.execPath, [script, join(Server.images_path, 'QEMU')], {
        stdio: ['ignore', 'pipe', 'inherit'],
        signal,
      });
      // A client that disconnects aborts the process, which is not an error.
      child.on('error', () => undefined);
      return new Stream('application/x-ndjson', child.stdout);
    },
  );
}
