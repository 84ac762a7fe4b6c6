/** The facts of a kind of node, as plain data: everything the controller and the shared code need to know about it. */

import type { ConsoleType, CustomAdapters, NodeType, Port } from '../schema/node.ts';
import type { TSchema } from '../schema/type.ts';

export interface PortNaming {
  port_name_format: string;
  port_segment_size: number;
  first_port_name: string | null;
  custom_adapters: CustomAdapters;
}

export interface Kind {
  readonly type: NodeType;
  /** One word for people. */
  readonly title: string;
  /** Body schemas of the compute's create and update routes, strict. */
  readonly create: TSchema;
  readonly update: TSchema;
  /** Folder below `project-files/` in which the nodes' own folders stand. */
  readonly folder: string;
  readonly can: {
    /** Suspend and resume. */
    readonly suspend: boolean;
    /** Filters on its links; at least one end must. */
    readonly filter: boolean;
    readonly resetConsole: boolean;
    readonly reload: boolean;
    readonly duplicate: boolean;
    /** `start` answers 200 with the node; otherwise 204. */
    readonly startAnswersNode: boolean;
    /** `port_number` chooses the port (otherwise `adapter_number` does and `port_number` is ignored). */
    readonly addressesByPort: boolean;
  };
  /** Has no process of its own and is always started. */
  readonly alwaysRunning: boolean;
  readonly consoleTypes: readonly ConsoleType[];
  /** Files of the configs folder that count as there when nobody has put them there: name to content. */
  readonly baseFiles?: Readonly<Record<string, string>>;
  readonly defaults: {
    readonly console_type: ConsoleType | null;
    readonly symbol: string;
    readonly category: 'router' | 'switch' | 'guest' | 'firewall';
    readonly name_format: string;
    readonly port_name_format: string;
    readonly port_segment_size: number;
  };
  /** Ports in order; a function of the properties and the naming rules. Throws a fault when a name format is not valid. */
  readonly ports: (properties: Readonly<Record<string, unknown>>, naming: PortNaming) => Port[];
}
