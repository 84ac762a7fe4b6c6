import { fault } from '../../../api/faults.ts';
import { Answer, type Route, route } from '../../../api/route.ts';
import { named, Text } from '../../../schema/common.ts';
import { HostStatistics } from '../../../schema/host.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import { clientVersion } from '../client-version.ts';
import { writeDebugReport } from './debug-report.ts';

const Version = Type.Object({ version: Text(), local: Type.Optional(Type.Boolean()) }, named('Version'));
const ComputeStatistics = Type.Object(
  { compute_id: Type.String(), compute_name: Type.String(), statistics: HostStatistics },
  named('ComputeStatistics'),
);

export function serverRoutes(controller: Controller): Route[] {
  const { settings, computes, projects, log, end } = controller;
  return [
    ...versionRoutes(controller),
    route(
      'POST /v2/shutdown',
      { right: 'administrator', summary: 'End the server as SIGTERM does; local servers only', empty: true, status: 201 },
      () => {
        if (!settings.Server.local) throw fault('not_local', { what: 'to end it through the API' });
        return new Answer(201, undefined, end);
      },
    ),
    route(
      'POST /v2/reload',
      { right: 'administrator', summary: 'Look for projects again, and open those with auto_open', empty: true },
      () => {
        void projects.reload().catch((error: unknown) => log.error({ err: error }, 'the search for projects failed'));
      },
    ),
    route(
      'POST /v2/debug',
      {
        right: 'administrator',
        summary: 'Write debug information to the data directory; local servers only',
        empty: true,
        status: 201,
      },
      () => {
        if (!settings.Server.local) throw fault('not_local', { what: 'to have debug information written' });
        return writeDebugReport(controller);
      },
    ),
    route(
      'GET /v2/statistics',
      {
        right: 'login',
        summary: 'How busy the computes are; those that do not answer are left out',
        reply: Type.Array(ComputeStatistics),
      },
      async () => {
        const answers = await Promise.allSettled(
          computes.all().map(async (compute) => ({
            compute_id: compute.id,
            compute_name: compute.record.name,
            statistics: await compute.transport.call('GET /v2/compute/statistics'),
          })),
        );
        for (const answer of answers)
          if (answer.status === 'rejected') log.info({ err: answer.reason }, 'a compute was left out of the statistics');
        return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      },
    ),
  ];
}

function versionRoutes({ version, settings, desktops }: Controller): Route[] {
  const { local, answer_client_version } = settings.Server;
  const versionFor = (userAgent: string | undefined) => (answer_client_version && clientVersion(userAgent, 2)) || version;
  return [
    route(
      'GET /v2/version',
      { right: 'login', summary: 'Version of the API, and whether the server is local', reply: Version },
      (call) => {
        // The first request of the desktop is for the version: its WebSockets are recognized by the address.
        desktops.has(call);
        return { local, version: versionFor(call.userAgent) };
      },
    ),
    route(
      'POST /v2/version',
      { right: 'login', summary: 'Compare the client with the server', body: Version, reply: Version },
      ({ body, userAgent }) => {
        const own = versionFor(userAgent);
        requireVersion(body.version, own);
        return { version: own };
      },
    ),
    route(
      'GET /v1/version',
      { right: 'login', summary: 'Version of the API, at the address of API version 1', reply: Version },
      ({ userAgent }) => ({
        version: versionFor(userAgent),
      }),
    ),
  ];
}

/** @throws version_differs */
export function requireVersion(version: string, own: string): void {
  if (version !== own) throw fault('version_differs', { version, own });
}
