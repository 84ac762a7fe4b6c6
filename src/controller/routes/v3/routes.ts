import type { Route } from '../../../api/route.ts';
import type { Controller } from '../../controller.ts';
import { ApplianceInstaller } from '../../library/appliance-installer.ts';
import { ImageLibrary } from '../../library/image-library.ts';
import { applianceRoutes } from './appliances.ts';
import { computeRoutes } from './computes.ts';
import { drawingRoutes } from './drawings.ts';
import { imageRoutes } from './images.ts';
import { linkRoutes } from './links.ts';
import { nodeRoutes } from './nodes.ts';
import { notificationRoutes } from './notifications.ts';
import { projectRoutes } from './projects.ts';
import { serverRoutes } from './server.ts';
import { snapshotRoutes } from './snapshots.ts';
import { symbolRoutes } from './symbols.ts';
import { templateRoutes } from './templates.ts';
import { twinsOf } from './twins.ts';

/** Everything below `/v3` that is not the compute's. `routes2`: the controller's routes of `/v2`. */
export function controllerRoutes3(controller: Controller, routes2: readonly Route[]): Route[] {
  const twin = twinsOf(routes2);
  const images = new ImageLibrary(controller);
  const { computes, templates, appliances, settings, imageDownloads: downloads } = controller;
  const installer = new ApplianceInstaller({ images, computes, templates, appliances, settings, downloads });
  return [
    ...serverRoutes(controller, twin),
    ...projectRoutes(controller, twin),
    ...nodeRoutes(controller, twin),
    ...linkRoutes(controller, twin),
    ...drawingRoutes(twin),
    ...snapshotRoutes(twin),
    ...templateRoutes(controller, twin, images),
    ...imageRoutes(controller, images, installer),
    ...computeRoutes(controller, twin),
    ...symbolRoutes(controller, twin),
    ...applianceRoutes(controller, installer),
    ...notificationRoutes(controller, twin),
  ];
}
