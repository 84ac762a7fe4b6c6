/** Context of the compute's routes. */
import type { Host } from '../../emulators/host/host.ts';
import type { FabricClient } from '../../fabric/client.ts';
import type { EventStream } from '../../lib/event-stream.ts';
import type { Finding } from '../../schema/finding.ts';
import type { ComputeNotice, Context } from '../context.ts';
import type { HostFigures } from '../host/host-figures.ts';
import type { MovedPorts } from '../links/moved-ports.ts';
import type { Arrivals } from '../nodes/arrivals.ts';
import type { Departures } from '../nodes/departures.ts';
import type { ProjectFreezes } from '../projects/freeze.ts';
import type { NodeFileLists } from '../projects/node-file-lists.ts';
import type { ComputeProjects } from '../projects/projects.ts';
import type { ResumedLinks } from '../projects/resumed-links.ts';
import type { WarmMachines } from '../projects/warm-machines.ts';

/** Moves of running machines, from here and to here. */
interface ComputeMoves {
  readonly departures: Departures;
  readonly arrivals: Arrivals;
  /** Machines are taken from every client of the API, not only from the controller of this process. */
  readonly areOpenToApi: boolean;
  readonly movedPorts: MovedPorts;
  /** Files of nodes that start elsewhere when this host is lost. */
  readonly files: NodeFileLists;
}

export interface ComputeRouteContext {
  readonly context: Context;
  readonly projects: ComputeProjects;
  readonly freezes: ProjectFreezes;
  readonly resumedLinks: ResumedLinks;
  readonly warmMachines: WarmMachines;
  readonly moves: ComputeMoves;
  readonly events: EventStream<ComputeNotice>;
  readonly host: Host;
  readonly fabric: Pick<FabricClient, 'stats' | 'load' | 'traces'>;
  readonly figures: HostFigures;
  readonly version: string;
  readonly findings: () => Promise<readonly Finding[]>;
}
