import { fault } from '../../api/faults.ts';
import { Answer, type Route, route } from '../../api/route.ts';
import { strict, Text } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import type { Controller } from '../controller.ts';
import { writeDebugReport } from '../debug-report.ts';

const Version = Type.Object({ version: Text(), local: Type.Optional(Type.Boolean()) }, strict);

export function serverRoutes(controller: Controller): Route[] {
  const { version, settings, computes, log, end } = controller;
  const own = Object.freeze({ version, local: settings.Server.local });
  return [
    route('GET /v2/version', { summary: 'Version of the API, and whether the server is local' }, () => own),
    route('POST /v2/version', { summary: 'Compare the client with the server', body: Version }, ({ body }) => {
      if (body.version !== version) throw fault('version_differs', { version: body.version, own: version });
      return { version };
    }),
    route('POST /v2/shutdown', { summary: 'End the server as SIGTERM does; local servers only', status: 201 }, () => {
      if (!settings.Server.local) throw fault('not_local', { what: 'to end it through the API' });
      return new Answer(201, undefined, end);
    }),
    route(
      'POST /v2/debug',
      { summary: 'Write what helps with trouble to the data directory; local servers only', status: 201 },
      () => {
        if (!settings.Server.local) throw fault('not_local', { what: 'to have debug information written' });
        return writeDebugReport(controller);
      },
    ),
    route('GET /v2/statistics', { summary: 'How busy the computes are; those that do not answer are left out' }, async () => {
      const answers = await Promise.allSettled(
        computes.all().map(async (compute) => ({
          compute_id: compute.id,
          compute_name: compute.record.name,
          statistics: (await compute.transport.call('GET /v2/compute/statistics')).body,
        })),
      );
      for (const answer of answers)
        if (answer.status === 'rejected') log.info({ err: answer.reason }, 'a compute was left out of the statistics');
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    }),
  ];
}
