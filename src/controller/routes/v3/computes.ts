import { type Call, type Route, type RouteKey, route } from '../../../api/route.ts';
import { named } from '../../../schema/common.ts';
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
    ...sameTwins(twin, [
      'GET /v3/computes',
      'GET /v3/computes/{compute_id}',
      'PUT /v3/computes/{compute_id}',
      'DELETE /v3/computes/{compute_id}',
      'GET /v3/computes/{compute_id}/{emulator}/{action:.+}',
      'POST /v3/computes/{compute_id}/{emulator}/{action:.+}',
      'PUT /v3/computes/{compute_id}/{emulator}/{action:.+}',
    ]),
    twin('POST /v3/computes', 'POST /v2/computes', { query: { connect: Type.Boolean() } }),
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
