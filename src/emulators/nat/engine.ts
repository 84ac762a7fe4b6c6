/** The programs that can be the uplink, and which of them is. */
import { readFile } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import type { BpfInstruction } from '../../fabric/protocol.ts';
import { runTool } from '../../process/tool.ts';
import type { Settings } from '../../schema/settings.ts';
import { findProgram } from '../host/find-program.ts';
import { hostPlatform, packageOf } from '../qemu/platforms.ts';
import { admitted } from './admitted.ts';
import { firstResolver, passtArguments } from './passt-command.ts';
import { listBackends, listsUserNetwork, userNetworkArguments } from './user-network-command.ts';

type NatSettings = Settings['NAT'];

/** Command that listens on `socket` once it runs. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  /** The frames that it may be sent; undefined: all. */
  readonly admits?: BpfInstruction[];
  /** The fabric addresses each lease to its client, because this program broadcasts leases and VPCS does not take those. */
  readonly directsLeases?: boolean;
}

/** Where it is to listen, and whether as root. */
interface ListenPlace {
  readonly socket: string;
  readonly isRoot: boolean;
}

interface NatEngine {
  readonly package: string;
  programName(settings: NatSettings): string;
  /** Why the program at this path cannot do what is asked for, for people; undefined when it can. */
  obstacle(program: string, settings: NatSettings): Promise<string | undefined>;
  launch(program: string, place: ListenPlace, settings: NatSettings): Promise<Launch>;
}

/** An emulator that takes longer to list what it can is not usable. */
const listLimitMs = 5000;

/** Engines in the order in which `auto` tries them. */
const engines: Readonly<Record<string, NatEngine>> = {
  qemu: {
    package: packageOf(hostPlatform()),
    programName: ({ qemu_path }) => qemu_path || `qemu-system-${hostPlatform()}`,
    async obstacle(program, { dns_server }) {
      if (dns_server !== '') return 'it asks this host’s own resolver only: leave dns_server empty, or set engine = passt';
      const { stdout, reason } = await runTool(program, listBackends, { timeoutMs: listLimitMs });
      return listsUserNetwork(stdout) ? undefined : reason || 'it has no user network, or is older than 7.2';
    },
    launch: async (program, { socket }, { host_access }) => ({
      program,
      args: userNetworkArguments(socket),
      directsLeases: true,
      ...(!host_access && { admits: admitted }),
    }),
  },
  passt: {
    package: 'passt',
    programName: ({ passt_path }) => passt_path,
    obstacle: async () => undefined,
    async launch(program, { socket, isRoot }, { dns_server, host_access }) {
      const resolver = dns_server || firstResolver(await readFile('/etc/resolv.conf', 'utf8').catch(() => ''));
      return { program, args: passtArguments({ socket, resolver, hostAccess: host_access, isRoot }) };
    },
  },
};

/**
 * Chooses the engine that the settings name, or with `auto` the first that can serve.
 *
 * @throws `tool_missing` when no program is there, `nat_failed` when none of those that are there can serve
 */
export async function chooseLaunch(settings: NatSettings, place: ListenPlace): Promise<Launch> {
  const candidates = candidatesOf(settings.engine);
  const obstacles: string[] = [];
  for (const engine of candidates) {
    const program = await findProgram(engine.programName(settings));
    if (program === undefined) continue;
    const obstacle = await engine.obstacle(program, settings);
    if (obstacle === undefined) return engine.launch(program, place, settings);
    obstacles.push(`${program} cannot be used: ${obstacle}`);
  }
  if (obstacles.length > 0) throw fault('nat_failed', { reason: obstacles.join('; ') });
  const either = (name: (engine: NatEngine) => string) => candidates.map(name).join(' or ');
  throw fault('tool_missing', {
    tool: either((engine) => engine.programName(settings)),
    package: either((engine) => engine.package),
  });
}

function candidatesOf(wanted: string): NatEngine[] {
  const candidates = Object.entries(engines).filter(([name]) => wanted === 'auto' || wanted === name);
  if (candidates.length === 0)
    throw fault('nat_failed', { reason: `engine in [NAT] is auto, ${Object.keys(engines).join(' or ')}` });
  return candidates.map(([, engine]) => engine);
}
