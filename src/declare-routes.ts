/** All routes of a server, of both generations of the API. */
import type { Logger } from 'pino';
import { checkRoutes } from '../lab/checks/check-routes.ts';
import { labRoutes } from '../lab/lab-routes.ts';
import { RoutesApi } from '../lab/state/routes-api.ts';
import type { Route } from './api/route.ts';
import type { Tickets } from './api/tickets.ts';
import type { HostCompute } from './compute/compute.ts';
import type { Controller } from './controller/controller.ts';
import { controllerRoutes } from './controller/routes/v2/routes.ts';
import { computePartRoutes } from './controller/routes/v3/compute-part.ts';
import { controllerRoutes3 } from './controller/routes/v3/routes.ts';
import { demoLabRoute } from './demo-lab.ts';
import { labImagesRoute } from './lab-images.ts';
import type { Accounts } from './people/accounts.ts';
import { peopleRoutes } from './people/routes/people-routes.ts';
import { setUpRoutes } from './people/routes/set-up-routes.ts';
import { SetUp } from './people/set-up.ts';
import type { Settings } from './schema/settings.ts';

/** Parts of the server on which the routes act. */
interface RouteParts {
  readonly controller: Controller;
  readonly compute: HostCompute;
  readonly accounts: Accounts;
  /** Absent: no one can set the first administrator's password. */
  readonly setUp?: SetUp;
  readonly tickets: Tickets;
  readonly settings: Settings;
  readonly log: Logger;
}

export function declareRoutes({
  controller,
  compute,
  accounts,
  setUp = new SetUp(accounts),
  tickets,
  settings,
  log,
}: RouteParts): readonly Route[] {
  const own = controllerRoutes(controller);
  const api = new RoutesApi(own);
  const people = peopleRoutes(accounts, {
    routes: () => routes,
    projects: () => controller.projects.list(),
    templates: () => controller.templates.list(),
  });
  const routes: readonly Route[] = [
    ...own,
    ...controllerRoutes3(controller, own),
    ...people,
    ...setUpRoutes(setUp),
    ...computePartRoutes(compute.routes()),
    ...compute.routes(),
    ...labRoutes(api, (error) => log.error(error)),
    ...checkRoutes(api, { tcpdump: () => compute.tcpdump(), onError: (error) => log.error(error) }),
    tickets.route(),
    demoLabRoute(settings),
    labImagesRoute(settings),
  ];
  return routes;
}
