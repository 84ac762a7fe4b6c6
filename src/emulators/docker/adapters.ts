/**
 * The adapters of a running container (`veth.ts`). One is made for every adapter, connected or not, because what runs in the container
 * looks for it at its start. Their TAP interfaces are held by the fabric.
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
import { type InterfaceTools, makeVeth, removeInterfaces, type VethNames, vethNames } from '../port-processes/veth.ts';
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
  /** Absent: they are in the host's network, as those that an earlier version made. */
  readonly inLinkNamespace?: boolean;
}
/** Held by a socat: the TAP interface is the one in the container, or has names if an earlier version made it without koffi. */
interface SocatHeldFacts extends ContainerEnd, SocatFacts, Partial<VethNames> {
  readonly holder?: undefined;
}
export type AdapterFacts = HeldFacts | SocatHeldFacts;

const ipLimitMs = 5000;
const movedTapMtu = 1500;

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
      if (facts.tap !== undefined && facts.hostEnd !== undefined)
        await removeInterfaces([facts.tap, facts.hostEnd], linksOf(host, facts));
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
      const { tap: name, hostEnd, kernelPath, inLinkNamespace = false } = facts;
      return { type: 'tap', name, ...(inLinkNamespace && { inLinkNamespace }), ...(kernelPath && { hostEnd, merges: true }) };
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
  const { tap, hostEnd } = before ?? {};
  const remains = tap !== undefined && hostEnd !== undefined;
  const names = remains ? { tap, hostEnd } : vethNames();
  const { kernelObstacle } = await host.fabric.capabilities();
  const held = { holder: 'fabric', ...names, ...end, kernelPath: isKernelPathAllowed(properties) } as const;
  const owner = host.settings.runtimeDirectory;
  const wanted = { ...end, ...names, owner, inside: `eth${adapter}` };
  if (!remains && (await host.linkNamespace.obstacle()) === undefined) {
    const problem = await makeVeth(wanted, host.linkNamespace).catch((error: Error) => error.message);
    if (problem === undefined) return { ...held, inLinkNamespace: true };
    host.log('warning', `adapters of ${node.name} are in the network of the host: ${problem}`);
  }
  const problem = kernelObstacle ?? (remains ? undefined : await makeVeth(wanted));
  if (problem !== undefined) {
    warnOnce(problem);
    const device = ownTapName(node.nodeId, adapter);
    const logFile = join(node.runtimeDirectory, `eth${adapter}.log`);
    const socat = { device: tapDevice(device), interface: device, mtu: movedTapMtu, capability: 'CAP_NET_ADMIN', logFile } as const;
    return { ...(await openSocat(host, socat)), ...end };
  }
  return held;
}

function linksOf({ linkNamespace }: Host, facts: AdapterFacts): InterfaceTools | undefined {
  return facts.holder === 'fabric' && facts.inLinkNamespace ? linkNamespace : undefined;
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
export async function setCarrier(host: Host, facts: AdapterFacts, up: boolean): Promise<void> {
  const { adapter, containerPid, hostEnd } = facts;
  const ip = await requireProgram('ip', 'iproute2');
  const links = linksOf(host, facts);
  // A veth end has a carrier while its peer is up.
  if (hostEnd !== undefined && links) {
    const { reason } = await links.ip.run([`link set dev ${hostEnd} ${up ? 'up' : 'down'}`]);
    if (reason !== '') throw fault('interface_unavailable', { interface: hostEnd, reason });
    return;
  }
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
