/** All routes of the compute. */
import type { Route } from '../../api/route.ts';
import type { Host } from '../../emulators/host.ts';
import type { EventStream } from '../../lib/event-stream.ts';
import type { Finding } from '../../schema/finding.ts';
import type { ComputeEvent, Context } from '../context.ts';
import type { HostFigures } from '../host-figures.ts';
import type { LateFabric } from '../late-fabric.ts';
import type { Projects } from '../projects.ts';
import { captureRoutes } from './captures.ts';
import { fileRoutes } from './files.ts';
import { imageRoutes } from './images.ts';
import { linkStatsRoutes } from './link-stats.ts';
import { nodeRoutes } from './nodes.ts';
import { notificationRoutes } from './notifications.ts';
import { projectRoutes } from './projects.ts';
import { serverRoutes } from './server.ts';

export interface RouteParts {
  readonly context: Context;
  readonly projects: Projects;
  readonly events: EventStream<ComputeEvent>;
  readonly host: Host;
  readonly fabric: Pick<LateFabric, 'stats'>;
  readonly figures: HostFigures;
  readonly version: string;
  readonly findings: () => Promise<readonly Finding[]>;
}

export function computeRoutes(parts: RouteParts): Route[] {
  return [
    ...serverRoutes(parts),
    ...notificationRoutes(parts),
    ...projectRoutes(parts),
    ...fileRoutes(parts),
    ...imageRoutes(parts),
    ...nodeRoutes(parts),
    ...captureRoutes(parts),
    ...linkStatsRoutes(parts),
  ];
}
