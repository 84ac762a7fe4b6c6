/** Makes the driver of every implemented kind. A kind of `kinds.ts` without a line in one of the tables does not compile. */
import type { NodeType } from '../schema/node.ts';
import { atmSwitchDriver } from './atm-switch/driver.ts';
import { cloudDriver } from './cloud/driver.ts';
import { dockerDriver } from './docker/driver.ts';
import type { Driver } from './driver.ts';
import { dynamipsDriver } from './dynamips/driver.ts';
import type { IdlePcRoute } from './dynamips/routes.ts';
import { ethernetHubDriver } from './ethernet-hub/driver.ts';
import { ethernetSwitchDriver, type tableRoutes } from './ethernet-switch/driver.ts';
import type { trafficRoutes } from './ethernet-switch/traffic-routes.ts';
import type { portStatsRoute } from './fabric-switches/fabric-driver.ts';
import { frameRelaySwitchDriver } from './frame-relay-switch/driver.ts';
import type { Host } from './host/host.ts';
import { iouDriver } from './iou/driver.ts';
import { type ImplementedType, implementedTypes } from './kinds.ts';
import { natDriver } from './nat/driver.ts';
import { qemuDriver } from './qemu/driver.ts';
import type { convertRoutes, nodeDiskRoutes, resizeRoute } from './qemu/routes.ts';
import { type StorageOnlyFacts, storageOnlyDriver } from './storage-only/storage-only-driver.ts';
import { tracengStorage } from './traceng/storage.ts';
import { virtualboxStorage } from './virtualbox/storage.ts';
import { vmwareStorage } from './vmware/storage.ts';
import { vpcsDriver } from './vpcs/driver.ts';
import type { probeRoute } from './vpcs/probe-route.ts';

/** The routes that only one kind has and the controller calls. */
export type RouteOfOneKind =
  | IdlePcRoute
  | ReturnType<typeof portStatsRoute>
  | ReturnType<typeof probeRoute>
  | ReturnType<typeof convertRoutes>[number]
  | ReturnType<typeof resizeRoute>
  | ReturnType<typeof nodeDiskRoutes>[number]
  | ReturnType<typeof tableRoutes>[number]
  | ReturnType<typeof trafficRoutes>[number];

/** Kinds whose nodes are kept, not run. One that comes to run leaves this table for the next. */
const storageOnly = {
  virtualbox: virtualboxStorage,
  vmware: vmwareStorage,
  traceng: tracengStorage,
} as const satisfies Partial<Record<ImplementedType, StorageOnlyFacts>>;

const running: Record<Exclude<ImplementedType, keyof typeof storageOnly>, (host: Host) => Driver> = {
  cloud: cloudDriver,
  ethernet_hub: ethernetHubDriver,
  ethernet_switch: ethernetSwitchDriver,
  nat: natDriver,
  vpcs: vpcsDriver,
  frame_relay_switch: frameRelaySwitchDriver,
  atm_switch: atmSwitchDriver,
  qemu: qemuDriver,
  docker: dockerDriver,
  iou: iouDriver,
  dynamips: (host) => dynamipsDriver(host),
};

/** Makes the drivers, in the order of the kinds. */
export function makeDrivers(host: Host): ReadonlyMap<NodeType, Driver> {
  const drivers = Object.fromEntries([
    ...Object.entries(running).map(([type, make]) => [type, make(host)]),
    ...Object.entries(storageOnly).map(([type, facts]) => [type, storageOnlyDriver(facts, host)]),
  ]) as Record<ImplementedType, Driver>;
  return new Map(implementedTypes.map((type) => [type, drivers[type]]));
}
