/** The compute in the controller's process. */
import { hostname } from 'node:os';
import { LocalTransport } from '../../api/local-transport.ts';
import type { Route } from '../../api/route.ts';
import type { ComputeEvent } from '../../api/transport.ts';
import type { ComputeApi } from '../../compute/api.ts';
import type { Capabilities } from '../../schema/compute.ts';
import { consoleHostOf, consolesAreRestricted } from '../../schema/console-access.ts';
import type { Settings } from '../../schema/settings.ts';
import type { Static } from '../../schema/type.ts';
import { canonical } from '../model/canonical.ts';
import { type ComputeRecord, localComputeId } from './compute.ts';

/** The part of the compute in this process that the controller needs. */
export interface LocalCompute {
  routes(): readonly Route[];
  readonly events: { subscribe(listener: (event: ComputeEvent) => void): () => void };
}

/** Describes the local compute as it is registered before the server listens. */
export async function describeLocalCompute(settings: Settings, compute: LocalCompute) {
  const { host, port, user } = settings.Server;
  const make = (capabilities: Static<typeof Capabilities>) =>
    new LocalTransport<ComputeApi>({ routes: compute.routes(), events: compute.events, capabilities });
  const unknown: Static<typeof Capabilities> = { version: null, node_types: [] };
  const capabilities = await make(unknown).call('GET /v2/compute/capabilities');
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host;
  const record: ComputeRecord = canonical({
    compute_id: localComputeId,
    host: reachable,
    name: hostname() || 'Main server',
    password: null,
    port,
    protocol: 'http' as const,
    user: user === '' ? null : user,
  });
  return {
    record,
    transport: make(canonical(capabilities)),
    consoleHost: consolesAreRestricted(settings.Server) ? consoleHostOf(settings.Server) : host,
  };
}
