import { fault } from '../../../api/faults.ts';
import { type Call, type Route, type RouteKey, route } from '../../../api/route.ts';
import { named } from '../../../schema/common.ts';
import type { ComputeCreate } from '../../../schema/compute.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

const ofEmulator = {
  docker: Type.Array(Type.Object({ image: Type.String() }, named('ComputeDockerImage'))),
  virtualbox: Type.Array(Type.Object({ vmname: Type.String(), ram: Type.Integer() }, named('ComputeVirtualBoxVm'))),
  vmware: Type.Array(Type.Object({ vmname: Type.String(), vmx_path: Type.String() }, named('ComputeVmwareVm'))),
};

export function computeRoutes({ computes }: Controller, twin: DeclareTwin): Route[] {
  const forwarded = '/v2/computes/{compute_id}/{emulator}/{action:.+}' as const;
  const list = (key: RouteKey, emulator: keyof typeof ofEmulator, action: string) =>
    twin(key, `GET ${forwarded}`, {
      summary: `List what ${emulator} has on a compute`,
      reply: ofEmulator[emulator],
      request: (call: Call) => ({ ...call, path: { ...call.path, emulator, action } }),
    });
  return [
    ...sameTwins(twin, ['GET /v3/computes', 'GET /v3/computes/{compute_id}', 'PUT /v3/computes/{compute_id}']),
    twin('DELETE /v3/computes/{compute_id}', 'DELETE /v2/computes/{compute_id}', {
      request: (call: Call) => {
        computes.get((call.path as { compute_id: string }).compute_id);
        return call;
      },
    }),
    ...(['GET', 'POST', 'PUT'] as const).map((method) =>
      twin(`${method} /v3/computes/{compute_id}/{emulator}/{action:.+}`, `${method} ${forwarded}`, { request: requireForwarded }),
    ),
    twin('POST /v3/computes', 'POST /v2/computes', {
      query: { connect: Type.Boolean() },
      request: (call: Call) => {
        const given = call.body as ComputeCreate;
        const known = computes.all().find(({ record }) => isSame(record, given));
        if (known) throw fault('compute_registered', { name: known.record.name, compute_id: known.record.compute_id });
        return call;
      },
    }),
    list('GET /v3/computes/{compute_id}/docker/images', 'docker', 'images'),
    list('GET /v3/computes/{compute_id}/virtualbox/vms', 'virtualbox', 'vms'),
    list('GET /v3/computes/{compute_id}/vmware/vms', 'vmware', 'vms'),
    twin('POST /v3/computes/{compute_id}/dynamips/auto_idlepc', 'POST /v2/computes/{compute_id}/auto_idlepc'),
    route(
      'POST /v3/computes/{compute_id}/connect',
      { summary: 'Require that a compute answers; the server connects it by itself', status: 204, right: 'Compute.Modify' },
      async ({ path }) => {
        await computes.get(path.compute_id).transport.call('GET /v2/compute/capabilities');
      },
    ),
  ];
}

/** Requests that GNS3 3 does not forward to a compute any more. */
const notForwarded = /^qemu\/(?:binaries|img-binaries|img)$/;

/** @throws compute_route_missing */
function requireForwarded(call: Call): Call {
  const { emulator, action } = call.path as { emulator: string; action: string };
  const request = `${emulator}/${action}`;
  if (notForwarded.test(request)) throw fault('compute_route_missing', { request: `/${request}` });
  return call;
}

/** Whether a compute has the id that is given, or the same address and user. The id of a compute follows from these in GNS3 3. */
function isSame(known: Partial<ComputeCreate>, { compute_id, protocol, host, port, user = null }: ComputeCreate): boolean {
  if (compute_id !== undefined) return known.compute_id === compute_id;
  return known.protocol === protocol && known.host === host && known.port === port && (known.user ?? null) === user;
}
