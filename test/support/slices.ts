/** Computes that register themselves, for tests. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SliceInvitation, SliceObject } from '../../src/schema/slice.ts';
import { RawClient } from './raw-http.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';
import { waitFor } from './wait-for.ts';

export interface TestSlice {
  readonly server: RunningServer;
  readonly id: string;
}

/** A compute that has joined. `joinUrl`: of its controller. */
export async function startSlice(controller: RawClient, joinUrl: string, options: ServerOptions = {}): Promise<TestSlice> {
  const { token, compute_id: id } = await controller.post<SliceInvitation>('/v2/slices/invitations');
  const server = await startServer({
    ...options,
    command: 'compute',
    args: ['--join', joinUrl, ...(options.args ?? [])],
    env: { ...options.env, PATCHBAY_JOIN: token },
    config: { Qemu: { acceleration: 'off' }, ...options.config },
  });
  await untilSlice(controller, id, 'joined').catch(async (error: Error) => {
    await server.kill9();
    throw new Error(`${error.message}: ${server.log()}`, { cause: error });
  });
  return { server, id };
}

export async function findSlice(controller: RawClient, id: string): Promise<SliceObject | undefined> {
  return (await controller.get<SliceObject[]>('/v2/slices')).find(({ compute_id }) => compute_id === id);
}

/** Waits until the slice is in this state and, if joined, connected. */
export function untilSlice(controller: RawClient, id: string, state: SliceObject['state']): Promise<SliceObject> {
  const condition = async () => {
    const slice = await findSlice(controller, id);
    if (slice?.state !== state) return undefined;
    if (state !== 'joined') return slice;
    return (await controller.get(`/v2/computes/${id}`)).connected ? slice : undefined;
  };
  return waitFor(condition, { what: `a slice that is ${state}`, everyMs: 100, limitMs: 120_000 });
}

/** Speaks to a slice as its controller does. */
export async function clientOfSlice({ server }: TestSlice, url = server.url): Promise<RawClient> {
  const { secret } = JSON.parse(await readFile(join(server.dataDir, 'state/slice.json'), 'utf8')) as { secret: string };
  return new RawClient(url, { authorization: `Basic ${Buffer.from(`patchbay:${secret}`).toString('base64')}` });
}
