/** Makes the container images of the example labs with the demo's script, in a process of its own: for `patchbay images`, and for the page. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fault } from './api/faults.ts';
import { type Route, route, Stream } from './api/route.ts';
import { named } from './schema/common.ts';
import type { Settings } from './schema/settings.ts';
import { Type } from './schema/type.ts';

const script = join(import.meta.dirname, '../demo/containers/build.ts');

/** Runs the script. `args`: the socket of the container engine. @returns the exit code */
export async function makeLabImages(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [script, ...args], { stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}

/** The script knows which names have a recipe; the pattern keeps its options out. */
const LabImages = Type.Object(
  {
    images: Type.Array(Type.String({ pattern: '^patchbay-[a-z]{1,20}$' }), {
      minItems: 1,
      maxItems: 10,
      description: 'Names of images of the example labs, without a tag: `patchbay-frr`',
    }),
  },
  named('LabImages'),
);

export function labImagesRoute({ Server, Docker }: Pick<Settings, 'Server' | 'Docker'>): Route {
  let isBusy = false;
  const end = () => {
    isBusy = false;
  };
  return route(
    'POST /v2/lab_images',
    {
      right: 'Image.Allocate /images',
      summary:
        "Make container images of the example labs out of Debian's packages; tells of its progress, one JSON document a line. Local servers only",
      body: LabImages,
      replyType: 'application/x-ndjson',
      own: true,
    },
    ({ body, signal }) => {
      if (!Server.local) throw fault('not_local', { what: 'to have images of containers made' });
      if (isBusy) throw fault('images_busy', {});
      isBusy = true;
      const only = body.images.flatMap((name) => ['--only', name]);
      const child = spawn(process.execPath, [script, '--json', ...only, Docker.socket_path], {
        stdio: ['ignore', 'pipe', 'inherit'],
        signal,
      });
      // A client that disconnects aborts the process, which is not an error.
      child.once('error', end).once('close', end);
      return new Stream('application/x-ndjson', child.stdout);
    },
  );
}
