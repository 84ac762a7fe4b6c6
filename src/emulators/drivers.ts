/** Makes the driver of every implemented kind. A kind of `kinds.ts` without a line here does not compile. */
import type { NodeType } from '../schema/node.ts';
import { atmSwitchDriver } from './atm-switch/driver.ts';
import { cloudDriver } from './cloud/driver.ts';
import { dockerDriver } from './docker/driver.ts';
import type { Driver } from './driver.ts';
import { dynamipsDriver, type idlePcRoutes } from './dynamips/driver.ts';
import { ethernetHubDriver } from './ethernet-hub/driver.ts';
import { ethernetSwitchDriver, type tableRoutes } from './ethernet-switch/driver.ts';
import type { portStatsRoute } from './fabric-switches/fabric-driver.ts';
import { frameRelaySwitchDriver } from './frame-relay-switch/driver.ts';
import type { Host } from './host/host.ts';
import { iouDriver } from './iou/driver.ts';
import type { ImplementedType } from './kinds.ts';
import { natDriver } from './nat/driver.ts';
import { qemuDriver } from './qemu/driver.ts';
import type { resizeRoute } from './qemu/routes.ts';
import { tracengDriver } from './traceng/driver.ts';
import { virtualboxDriver } from './virtualbox/driver.ts';
import { vmwareDriver } from './vmware/driver.ts';
import { vpcsDriver } from './vpcs/driver.ts';

/** The routes that only one kind has and the controller calls. */
export type RouteOfOneKind =
  | ReturnType<typeof idlePcRoutes>[number]
  | ReturnType<typeof portStatsRoute>
  | ReturnType<typeof resizeRoute>
  | ReturnType<typeof tableRoutes>[number];

export function makeDrivers(host: Host): ReadonlyMap<NodeType, Driver> {
  const drivers: Record<ImplementedType, Driver> = {
    cloud: cloudDriver(host),
    ethernet_hub: ethernetHubDriver(host),
    ethernet_switch: ethernetSwitchDriver(host),
    nat: natDriver(host),
    vpcs: vpcsDriver(host),
    virtualbox: virtualboxDriver(),
    dynamips: dynamipsDriver(host),
    frame_relay_switch: frameRelaySwitchDriver(host),
    atm_switch: atmSwitchDriver(host),
    qemu: qemuDriver(host),
    vmware: vmwareDriver(),
    traceng: tracengDriver(),
    docker: dockerDriver(host),
    iou: iouDriver(host),
  };
  return new Map(Object.entries(drivers) as [NodeType, Driver][]);
}
