/**
 * The adapters of a running container: each is a TAP interface that was moved into the container's network, with a socat that holds it.
 * It is made for every adapter, connected or not, because what runs in the container looks for it at its start.
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
import { asDocker, macOf } from './properties.ts';

export interface AdapterFacts extends SocatFacts {
  readonly adapter: number;
  readonly mac: string | undefined;
  /** The container's first process, whose network it is. */
  readonly containerPid: number;
}

const ipLimitMs = 5000;
const tapMtu = 1500;

/** `containerPid`: asked when an adapter is opened. */
export function containerAdapters(host: Host, node: NodeView, containerPid: () => number): PortProcesses<AdapterFacts> {
  const place = { cwd: node.directory, runDirectory: host.settings.runtimeDirectory, warn: node.warn };
  const service: PortService<AdapterFacts> = {
    async open(adapter) {
      const own = ownTapName(node.nodeId, adapter);
      const socat = await openSocat(host, {
        device: tapDevice(own),
        interface: own,
        mtu: tapMtu,
        capability: 'CAP_NET_ADMIN',
        logFile: join(node.runtimeDirectory, `eth${adapter}.log`),
      });
      return { ...socat, adapter, mac: macOf(asDocker(node.properties), adapter), containerPid: containerPid() };
    },
    retake: (facts) => retakeSocat(host, facts),
    close: (facts) => closeSocat(host, facts),
    command: async (facts) => socatCommand(facts),
    async ready(facts, child) {
      const outcome = await whenSocatReady(facts, child);
      if (!outcome) await moveInto(facts);
      return outcome;
    },
    failure: (facts, outcome) => socatFailure(facts, outcome),
    spec: (facts) => socatPort(facts),
  };
  return new PortProcesses(service, place);
}

/** @throws tool_missing, interface_unavailable */
async function moveInto({ interface: tap, adapter, mac, containerPid }: AdapterFacts): Promise<void> {
  const name = `eth${adapter}`;
  const [ip, nsenter] = await Promise.all([requireProgram('ip', 'iproute2'), requireProgram('nsenter', 'util-linux')]);
  await succeed(tap, ip, ['link', 'set', 'dev', tap, ...(mac === undefined ? [] : ['address', mac])]);
  await succeed(tap, ip, ['link', 'set', 'dev', tap, 'netns', String(containerPid), 'name', name]);
  await succeed(tap, nsenter, [`--net=/proc/${containerPid}/ns/net`, ip, 'link', 'set', 'dev', name, 'up']);
}

/** Shows the container that the cable is in or out. @throws tool_missing, interface_unavailable */
export async function setCarrier(
  { adapter, containerPid }: Pick<AdapterFacts, 'adapter' | 'containerPid'>,
  up: boolean,
): Promise<void> {
  const name = `eth${adapter}`;
  const [ip, nsenter] = await Promise.all([requireProgram('ip', 'iproute2'), requireProgram('nsenter', 'util-linux')]);
  const set = [ip, 'link', 'set', 'dev', name, 'carrier', up ? 'on' : 'off'];
  await succeed(name, nsenter, [`--net=/proc/${containerPid}/ns/net`, ...set]);
}

async function succeed(tap: string, program: string, args: readonly string[]): Promise<void> {
  const { code, reason } = await runTool(program, args, { timeoutMs: ipLimitMs });
  if (code !== 0) throw fault('interface_unavailable', { interface: tap, reason });
}
