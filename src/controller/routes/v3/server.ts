import { type Route, route } from '../../../api/route.ts';
import { named, Text } from '../../../schema/common.ts';
import { IouLicense } from '../../../schema/kept-settings.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import { clientVersion, standardVersion } from '../client-version.ts';
import { requireVersion } from '../v2/server.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

const optional = { controller_host: Type.Optional(Type.String()), local: Type.Optional(Type.Boolean()) };
const Version = Type.Object({ ...optional, version: Text() }, named('VersionOfV3'));

export function serverRoutes(controller: Controller, twin: DeclareTwin): Route[] {
  return [
    ...versionRoutes(controller),
    ...sameTwins(twin, [
      'GET /v3/statistics',
      'GET /v3/iou_license',
      'GET /v3/gns3vm',
      'GET /v3/gns3vm/engines',
      'GET /v3/gns3vm/engines/{engine}/vms',
    ]),
    twin('PUT /v3/iou_license', 'PUT /v2/iou_license', { body: IouLicense }),
    twin('PUT /v3/gns3vm', 'PUT /v2/gns3vm', { status: 200 }),
    twin('POST /v3/reload', 'POST /v2/reload', { status: 204 }),
    twin('POST /v3/shutdown', 'POST /v2/shutdown', { status: 204 }),
  ];
}

function versionRoutes({ settings, computes }: Controller): Route[] {
  const { local, answer_client_version: answersClient } = settings.Server;
  const versionFor = (userAgent: string | undefined) => (answersClient && clientVersion(userAgent, 3)) || standardVersion;
  return [
    route(
      'GET /v3/version',
      { summary: 'Version of the API, and whether the server is local', reply: Version, right: 'open' },
      (call) => ({
        controller_host: computes.local.record.host,
        version: versionFor(call.userAgent),
        // A client refuses a server without this key.
        local,
      }),
    ),
    route(
      'POST /v3/version',
      { summary: 'Compare the client with the server', body: Version, reply: Version, right: 'open' },
      ({ body, userAgent }) => {
        requireVersion(body.version, versionFor(userAgent));
        return { version: body.version };
      },
    ),
  ];
}
