/** A real server for a test file: started before its tests, ended after them, and nothing of it may be left. */
import { after } from 'node:test';
import { RawClient } from './raw-http.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';

export interface Bench {
  readonly server: RunningServer;
  readonly client: RawClient;
}

/** Awaited at the top of a test file, for hooks of a file begin at the same time. The server ends after the last test. */
export async function withServer(options: ServerOptions = {}): Promise<Bench> {
  // KVM is not probed: these tests say themselves that machines are emulated.
  const server = await startServer({ ...options, config: { Qemu: { acceleration: 'off' }, ...options.config } });
  const client = new RawClient(server.url);
  after(async () => {
    client.close();
    await server.stop();
  });
  return { server, client };
}

let names = 0;
/** A name that nothing else in this test process has. */
export function freshName(what: string): string {
  names += 1;
  return `${what}-${names}`;
}

export interface ProjectHandle {
  readonly id: string;
  /** `/v2/projects/{id}`. */
  readonly path: string;
  /** `/v2/compute/projects/{id}`. */
  readonly computePath: string;
}

export async function createProject(client: RawClient, fields: Record<string, unknown> = {}): Promise<ProjectHandle> {
  const { project_id: id } = await client.post<{ project_id: string }>('/v2/projects', { name: freshName('project'), ...fields });
  return { id, path: `/v2/projects/${id}`, computePath: `/v2/compute/projects/${id}` };
}

export interface NodeBody {
  node_id: string;
  name: string;
  console: number | null;
  status: string;
  properties: Record<string, unknown>;
  [key: string]: unknown;
}

export function createNode(
  client: RawClient,
  project: ProjectHandle,
  node_type = 'vpcs',
  fields: Record<string, unknown> = {},
): Promise<NodeBody> {
  return client.post<NodeBody>(`${project.path}/nodes`, { name: freshName('N'), node_type, compute_id: 'local', ...fields });
}

export const end = (node: { node_id: string }, adapter_number = 0, port_number = 0) => ({
  node_id: node.node_id,
  adapter_number,
  port_number,
});

/** Properties of the smallest VM there is: firmware and a network boot ROM, no image, 16 MiB, emulated processor. */
export const tinyVm = {
  ram: 16,
  adapters: 1,
  boot_priority: 'n',
  options: '-nodefaults -machine accel=tcg,graphics=off',
  process_priority: 'normal',
};

/**
 * The machine of `tinyVm` with a network card that has no boot ROM: its firmware finds nothing to boot, writes its name and halts.
 * Takes no processor time, where the boot ROM of `tinyVm` asks for an address again and again and keeps a core busy.
 */
export const idleVm = { ...tinyVm, adapter_type: 'tulip' };
