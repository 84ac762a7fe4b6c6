/** All routes of the compute. */
import type { Route } from '../../api/route.ts';
import { captureRoutes } from './captures.ts';
import { fileRoutes } from './files.ts';
import { imageTransferRoutes } from './image-transfers.ts';
import { imageRoutes } from './images.ts';
import { linkStatsRoutes } from './link-stats.ts';
import { moveRoutes } from './moves.ts';
import { nodeCopyRoutes } from './node-copies.ts';
import { nodeRoutes, routesOfKinds } from './nodes.ts';
import { notificationRoutes } from './notifications.ts';
import { projectCopyRoutes } from './project-copies.ts';
import { projectRoutes } from './projects.ts';
import type { ComputeRouteContext } from './route-context.ts';
import { serverRoutes } from './server.ts';
import { traceRoutes } from './traces.ts';
import { warmMachineRoutes } from './warm-machines.ts';

export function computeRoutes(parts: ComputeRouteContext): Route[] {
  return [...sharedRoutes(parts), ...routesOfKinds(parts)];
}

/** Routes that do not depend on the kinds of nodes; `api.ts` derives the types of the controller's calls from them. */
export function sharedRoutes(parts: ComputeRouteContext) {
  return [
    ...serverRoutes(parts),
    ...notificationRoutes(parts),
    ...projectRoutes(parts),
    ...projectCopyRoutes(parts),
    ...warmMachineRoutes(parts),
    ...nodeCopyRoutes(parts),
    ...moveRoutes(parts),
    ...fileRoutes(parts),
    ...imageRoutes(parts),
    ...imageTransferRoutes(parts),
    ...nodeRoutes(parts),
    ...captureRoutes(parts),
    ...linkStatsRoutes(parts),
    ...traceRoutes(parts),
  ];
}
