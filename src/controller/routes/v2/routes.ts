import type { Route } from '../../../api/route.ts';
import type { Controller } from '../../controller.ts';
import { applianceRoutes } from './appliances.ts';
import { checkpointRoutes } from './checkpoints.ts';
import { computeRoutes } from './computes.ts';
import { drawingRoutes } from './drawings.ts';
import { fileRoutes } from './files.ts';
import { historyRoutes } from './history.ts';
import { imageRoutes } from './images.ts';
import { keptSettingsRoutes } from './kept-settings.ts';
import { kindRoutes } from './kinds.ts';
import { linkRoutes } from './links.ts';
import { nodeRoutes } from './nodes.ts';
import { notificationRoutes } from './notifications.ts';
import { portableRoutes } from './portable.ts';
import { projectRoutes } from './projects.ts';
import { serverRoutes } from './server.ts';
import { placementRoutes, sliceRoutes } from './slices.ts';
import { snapshotRoutes } from './snapshots.ts';
import { switchRoutes } from './switches.ts';
import { symbolRoutes } from './symbols.ts';
import { templateRoutes } from './templates.ts';
import { traceRoutes } from './traces.ts';
import { trafficRoutes } from './traffic.ts';

/** Everything below `/v2` that is not the compute's. */
export function controllerRoutes(controller: Controller): Route[] {
  return [
    ...serverRoutes(controller),
    ...keptSettingsRoutes(controller),
    ...computeRoutes(controller),
    ...sliceRoutes(controller),
    ...placementRoutes(controller),
    ...kindRoutes(),
    ...projectRoutes(controller),
    ...portableRoutes(controller),
    ...nodeRoutes(controller),
    ...switchRoutes(controller),
    ...trafficRoutes(controller),
    ...traceRoutes(controller),
    ...fileRoutes(controller),
    ...linkRoutes(controller),
    ...drawingRoutes(controller),
    ...historyRoutes(controller),
    ...snapshotRoutes(controller),
    ...checkpointRoutes(controller),
    ...imageRoutes(controller),
    ...applianceRoutes(controller),
    ...symbolRoutes(controller),
    ...templateRoutes(controller),
    ...notificationRoutes(controller),
  ];
}
