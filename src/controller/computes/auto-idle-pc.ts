/** Finds an idle-PC value for a router image, with a router of a project that exists on the compute alone, and no longer than that. */
import { randomUUID } from 'node:crypto';
import type { IdlePc } from '../../schema/idle-pc.ts';
import type { Static } from '../../schema/type.ts';
import type { RegisteredCompute } from './compute.ts';
import type { TemporaryProjects } from './temporary-projects.ts';

export interface AutoIdlePcRequest {
  readonly platform: string;
  readonly image: string;
  /** MiB. */
  readonly ram: number;
}

/** GNS3's name of the project, and of its router. */
const name = 'AUTOIDLEPC';
/** The router boots for 20 s; then up to some ten values are tried for 3 s each. */
const limitMs = 300_000;

/** @throws what the compute refuses */
export async function autoIdlePc(
  compute: RegisteredCompute,
  temporary: TemporaryProjects,
  { platform, image, ram }: AutoIdlePcRequest,
): Promise<Static<typeof IdlePc>> {
  const { transport } = compute;
  const project = { project_id: randomUUID() };
  await temporary.begin(compute, project.project_id);
  try {
    await transport.send('POST /v2/compute/projects', { body: { ...project, name } });
    const router = { platform, image, ram, name, node_id: randomUUID() };
    await transport.send('POST /v2/compute/projects/{project_id}/dynamips/nodes', { path: project, body: router });
    const path = { ...project, node_id: router.node_id };
    return await transport.call('GET /v2/compute/projects/{project_id}/dynamips/nodes/{node_id}/auto_idlepc', {
      path,
      timeoutMs: limitMs,
    });
  } finally {
    await temporary.end(project.project_id, compute);
  }
}
