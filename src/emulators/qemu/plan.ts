/** Plans QEMU's command line from the checked machine, its disks and its reserved ports. */

import { access, constants } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import type { NodeView } from '../driver.ts';
import { macOfNode } from '../facts/mac-address.ts';
import { type AdapterPort, adapterFacts, isVirtio, type Offload } from './adapters.ts';
import type { CheckedMachine } from './check-machine.ts';
import type { Plan } from './command.ts';
import { savedStateName } from './disks.ts';
import type { QemuFacilities } from './facilities.ts';
import type { MachineFiles } from './find-files.ts';
import { hasOffloads } from './memory/facts.ts';
import type { ContinuedMachine } from './memory/restore.ts';
import { chosenAccelerator } from './options.ts';
import { placesOf } from './places.ts';
import { nativePlatforms } from './platforms.ts';
import { asQemu, type QemuProperties } from './properties.ts';
import { sandboxValue } from './sandbox.ts';
import { tpmSocket } from './tpm.ts';

interface MachineParts {
  readonly checked: CheckedMachine;
  readonly files: MachineFiles;
  /** Where the fabric connects to, one for each adapter. */
  readonly ports: readonly AdapterPort[];
  readonly memory: ContinuedMachine | undefined;
  /** A compute without TAP interfaces may have to continue it. */
  readonly portable: boolean;
}

/** @throws qemu_failed when acceleration is required and there is none */
export async function planMachine(
  node: NodeView,
  { checked, files, ports, memory, portable }: MachineParts,
  facilities: QemuFacilities,
): Promise<Plan> {
  const { properties, program, version, options, swtpm } = checked;
  const { disks, ...images } = files;
  const defaults = { type: properties.adapter_type, mac: properties.mac_address };
  const own = adapterFacts(ports.length, defaults, properties.custom_adapters);
  // Addresses that its user chose are the node's, and make it another machine.
  const macs = hasGivenAddresses(node, properties) ? [] : (memory?.macs ?? []);
  const facts = own.map((fact, index) => ({ ...fact, mac: macs[index] ?? fact.mac }));
  const places = placesOf(node);
  const chosen = await accelerator(properties, options, facilities);
  const offload = wantsOffloads(properties, memory, portable) ? await strongestOffload(chosen) : 'off';
  return {
    ...images,
    uuid: memory?.facts.uuid ?? node.nodeId,
    memory,
    name: node.name,
    properties,
    version,
    options,
    accelerator: chosen,
    drives: disks,
    adapters: facts.flatMap((fact, index) => {
      const port = ports[index];
      return port ? [{ ...fact, port, offload: isVirtio(fact.type) ? offload : 'off' }] : [];
    }),
    tpmSocket: swtpm === undefined ? undefined : tpmSocket(node),
    console: node.console,
    sockets: places,
    pidFile: places.pidFile,
    consoleLog: places.consoleLog,
    sandbox: await sandbox(program, facilities),
    savedState: memory === undefined && disks.some((disk) => disk.hasSavedState) ? savedStateName : undefined,
  };
}

/** A machine that continues has those that it was saved with: its guest knows no others. */
function wantsOffloads({ offload }: QemuProperties, memory: ContinuedMachine | undefined, portable: boolean): boolean {
  if (memory) return hasOffloads(memory.facts.arguments);
  return offload === 'full' || (offload !== 'portable' && !portable);
}

/** Strongest offload of the host: with KVM the kernel moves frames itself where it can (vhost-net). */
async function strongestOffload(accelerator: 'kvm' | 'tcg' | undefined): Promise<Offload> {
  if (accelerator !== 'kvm') return 'on';
  return access('/dev/vhost-net', constants.R_OK | constants.W_OK).then(
    () => 'vhost',
    () => 'on',
  );
}

/** Addresses of the first cards as the node's properties have them. */
export function ownAddresses({ properties }: NodeView, count: number): string[] {
  const { adapter_type: type, mac_address: mac, custom_adapters } = asQemu(properties);
  return adapterFacts(count, { type, mac }, custom_adapters).map((fact) => fact.mac);
}

function hasGivenAddresses({ nodeId }: NodeView, { mac_address, custom_adapters }: QemuProperties): boolean {
  return mac_address !== macOfNode(nodeId) || custom_adapters.some((own) => own.mac_address !== undefined);
}

async function sandbox(program: string, { host, sandboxes }: QemuFacilities): Promise<string | undefined> {
  if (!host.settings.Qemu.sandbox) return undefined;
  return (await sandboxes.isUsable(program)) ? sandboxValue : undefined;
}

/** @throws qemu_failed when acceleration is required and there is none */
async function accelerator(
  properties: QemuProperties,
  options: readonly string[],
  facilities: QemuFacilities,
): Promise<'kvm' | 'tcg' | undefined> {
  if (chosenAccelerator(options) !== undefined) return undefined;
  const { enable_hardware_acceleration, require_hardware_acceleration, acceleration } = facilities.host.settings.Qemu;
  const refuse = (reason: string): 'tcg' => {
    if (!require_hardware_acceleration) return 'tcg';
    const cure = 'or set require_hardware_acceleration = False in [Qemu]';
    throw fault('qemu_failed', { reason: `Hardware acceleration is required, but ${reason}: choose another emulator, ${cure}` });
  };
  if (!enable_hardware_acceleration || acceleration === 'off') return refuse('it is switched off in the configuration');
  if (!nativePlatforms().includes(properties.platform)) return refuse(`${properties.platform} is not this machine’s architecture`);
  if (acceleration === 'on') return 'kvm';
  const verdict = await facilities.acceleration.verdict();
  return verdict.usable ? 'kvm' : refuse(verdict.reason);
}
