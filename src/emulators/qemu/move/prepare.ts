import type { Departure } from '../../driver.ts';
import { findUserOf } from '../../host/run-as.ts';
import { placesOf } from '../places.ts';
import { QemuDeparture } from './depart.ts';
import { offerOf, type RunningMachine } from './offer.ts';

/** @returns the reason, for people, where the machine cannot be moved. @throws qemu_failed, run_as_failed, and errors of the system */
export async function prepareDeparture(machine: RunningMachine): Promise<Departure | string> {
  const { node, host, monitor, record } = machine;
  const offer = await offerOf(machine);
  if (typeof offer === 'string') return offer;
  const { runtimeDirectory } = node;
  const runAs = await findUserOf(host.settings, node.nodeId, record.pid);
  return QemuDeparture.prepare({ offer, monitor, runtimeDirectory, consoleLog: placesOf(node).consoleLog, runAs });
}
