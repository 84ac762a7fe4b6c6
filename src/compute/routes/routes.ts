/** All routes of the compute. */
import type { Route } from '../../api/route.ts';
import { captureRoutes } from './captures.ts';
import { fileRoutes } from './files.ts';
import { imageRoutes } from './images.ts';
import { linkStatsRoutes } from './link-stats.ts';
import { nodeRoutes } from './nodes.ts';
import { notificationRoutes } from './notifications.ts';
import { projectRoutes } from './projects.ts';
import type { ComputeRouteContext } from './route-context.ts';
import { serverRoutes } from './server.ts';

export function computeRoutes(parts: ComputeRouteContext): Route[] {
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
