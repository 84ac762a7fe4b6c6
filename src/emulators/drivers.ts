/** Makes the driver of every implemented kind. A kind of `kinds.ts` without a line here does not compile. */
import type { NodeType } from '../schema/node.ts';
import type { Driver } from './driver.ts';
import type { Host } from './host.ts';
import type { ImplementedType } from './kinds.ts';
import { qemuDriver } from './qemu/driver.ts';
import { vpcsDriver } from './vpcs/driver.ts';

export function makeDrivers(host: Host): ReadonlyMap<NodeType, Driver> {
  const drivers: Record<ImplementedType, Driver> = {
    qemu: qemuDriver(host),
    vpcs: vpcsDriver(host),
  };
  return new Map(Object.entries(drivers) as [NodeType, Driver][]);
}
