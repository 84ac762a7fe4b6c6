/**
 * The adapters of a running container (`veth.ts`). One is made for every adapter, connected or not, because what runs in the container
 * looks for it at its start. Their TAP interfaces are held by the fabric, or each by a socat where the fabric cannot.
 *
 * Where the kernel cannot redirect frames, an adapter is a TAP interface that was moved into the container, with a socat that holds it:
 * it then goes when its socat ends.
 */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { runTool } from '../../process/tool.ts';
import type { NodeView } from '../driver.ts';
import { requireProgram } from '../host/find-program.ts';
import type { Host } from '../host/host.ts';
import { PortProcesses, type PortService } from '../port-processes/port-processes.ts';
import {
  closeSocat,
  openSocat,
  ownTapName,
  retakeSocat,
  type SocatFacts,
  socatCommand,
  socatFailure,
  socatPort,
  tapDevice,
  whenSocatReady,
} from '../port-processes/socat.ts';
import { makeVeth, removeInterfaces, type VethNames, vethNames } from '../port-processes/veth.ts';
import { iolWord } from './iol-environment.ts';
import { asDocker, type DockerProperties, macOf } from './properties.ts';

interface ContainerEnd {
  readonly adapter: number;
  readonly mac: string | undefined;
  /** The container's first process, whose network it is. */
  readonly containerPid: number;
}
/** Held by the fabric. */
interface HeldFacts extends ContainerEnd, VethNames {
  readonly holder: 'fabric';
  /** The kernel may carry its link. */
  readonly kernelPath: boolean;
}
/** Held by a socat; without the names the TAP interface is the one in the container. */
interface SocatHeldFacts extends ContainerEnd, SocatFacts, Partial<VethNames> {
  readonly holder?: undefined;
}
export type AdapterFacts = HeldFacts | SocatHeldFacts;

const ipLimitMs = 5000;
const movedTapMtu = 1500;
const longestMtu = 65_521;

/** `containerPid`: asked when an adapter is opened. */
export function containerAdapters(host: Host, node: NodeView, containerPid: () => number): PortProcesses<AdapterFacts> {
  const place = { cwd: node.directory, runDirectory: host.settings.runtimeDirectory, warn: node.warn };
  let isWarned = false;
  const warnOnce = (problem: string) => {
    if (isWarned) return;
    isWarned = true;
    host.log('warning', `adapters of ${node.name} are slow, as the kernel cannot redirect their frames: ${problem}`);
  };
  const service: PortService<AdapterFacts> = {
    open: (adapter, before) => openAdapter(host, node, { adapter, containerPid: containerPid(), before, warnOnce }),
    retake: (facts) => facts.holder === undefined && retakeSocat(host, facts),
    async close(facts) {
      if (facts.holder === undefined) closeSocat(host, facts);
      if (facts.tap !== undefined && facts.hostEnd !== undefined) await removeInterfaces([facts.tap, facts.hostEnd]);
    },
    command: async (facts) => (facts.holder === undefined ? socatCommand(facts) : undefined),
    async ready(facts, child) {
      if (facts.holder !== undefined) return undefined;
      const outcome = await whenSocatReady(facts, child);
      if (!outcome && facts.hostEnd === undefined) await moveInto(facts);
      return outcome;
    },
    failure: (facts, outcome) => (facts.holder === undefined ? socatFailure(facts, outcome) : new Error(outcome.tail)),
    spec: (facts) => {
      if (facts.holder === undefined) return socatPort(facts);
      const { tap: name, hostEnd, kernelPath } = facts;
      return { type: 'tap', name, ...(kernelPath && { hostEnd, merges: true }) };
    },
  };
  return new PortProcesses(service, place);
}

interface WantedAdapter {
  readonly adapter: number;
  readonly containerPid: number;
  /** Facts of the adapter before its socat ended while no server ran; the container keeps its interface. */
  readonly before: AdapterFacts | undefined;
  /** Why it is slow; the first adapter of a container says so. */
  readonly warnOnce: (problem: string) => void;
}

async function openAdapter(
  host: Host,
  node: NodeView,
  { adapter, containerPid, before, warnOnce }: WantedAdapter,
): Promise<AdapterFacts> {
  const properties = asDocker(node.properties);
  const end = { adapter, mac: macOf(properties, adapter), containerPid };
  const socat = (device: string, mtu: number) =>
    openSocat(host, {
      device: tapDevice(device),
      interface: device,
      mtu,
      capability: 'CAP_NET_ADMIN',
      logFile: join(node.runtimeDirectory, `eth${adapter}.log`),
    });
  const { tap, hostEnd } = before ?? {};
  const remains = tap !== undefined && hostEnd !== undefined;
  const names = remains ? { tap, hostEnd } : vethNames();
  const { taps, kernelObstacle } = await host.fabric.capabilities();
  // Without the fabric's own trial it is tried here.
  const obstacle = taps ? kernelObstacle : null;
  const owner = host.settings.runtimeDirectory;
  const problem = obstacle ?? (remains ? undefined : await makeVeth({ ...end, ...names, owner, inside: `eth${adapter}` }));
  if (problem !== undefined) {
    warnOnce(problem);
    return { ...(await socat(ownTapName(node.nodeId, adapter), movedTapMtu)), ...end };
  }
  if (taps) return { holder: 'fabric', ...names, ...end, kernelPath: isKernelPathAllowed(properties) };
  try {
    return { ...(await socat(names.tap, longestMtu)), ...names, ...end };
  } catch (error) {
    await removeInterfaces([names.tap, names.hostEnd]);
    throw error;
  }
}

/** An IOL image reads frames as they are on a cable: it would see segments that the kernel has not cut yet. */
function isKernelPathAllowed({ kernel_path, environment }: DockerProperties): boolean {
  return kernel_path !== false && iolWord(environment) === undefined;
}

/** @throws tool_missing, interface_unavailable */
async function moveInto({ interface: tap, adapter, mac, containerPid }: SocatHeldFacts): Promise<void> {
  const name = `eth${adapter}`;
  const [ip, nsenter] = await Promise.all([requireProgram('ip', 'iproute2'), requireProgram('nsenter', 'util-linux')]);
  await succeed(tap, ip, ['link', 'set', 'dev', tap, ...(mac === undefined ? [] : ['address', mac])]);
  await succeed(tap, ip, ['link', 'set', 'dev', tap, 'netns', String(containerPid), 'name', name]);
  await succeed(tap, nsenter, [`--net=/proc/${containerPid}/ns/net`, ip, 'link', 'set', 'dev', name, 'up']);
}

/** Shows the container that the cable is in or out. @throws tool_missing, interface_unavailable */
export async function setCarrier({ adapter, containerPid, hostEnd }: AdapterFacts, up: boolean): Promise<void> {
  const ip = await requireProgram('ip', 'iproute2');
  // A veth end has a carrier while its peer is up.
  if (hostEnd !== undefined) return succeed(hostEnd, ip, ['link', 'set', 'dev', hostEnd, up ? 'up' : 'down']);
  const name = `eth${adapter}`;
  const nsenter = await requireProgram('nsenter', 'util-linux');
  const set = [ip, 'link', 'set', 'dev', name, 'carrier', up ? 'on' : 'off'];
  await succeed(name, nsenter, [`--net=/proc/${containerPid}/ns/net`, ...set]);
}

async function succeed(tap: string, program: string, args: readonly string[]): Promise<void> {
  const { code, reason } = await runTool(program, args, { timeoutMs: ipLimitMs });
  if (code !== 0) throw fault('interface_unavailable', { interface: tap, reason });
}
