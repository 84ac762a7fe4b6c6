/** The facts of a kind of node, as plain data: everything the controller and the shared code need to know about it. */

import type { ConsoleType, CustomAdapters, NodeType, Port } from '../schema/node.ts';
import type { Settings } from '../schema/settings.ts';
import type { SymbolFigure } from '../schema/symbol.ts';
import type { Category, TypeProperties } from '../schema/template.ts';
import type { TSchema } from '../schema/type.ts';

export interface PortNaming {
  port_name_format: string;
  port_segment_size: number;
  first_port_name: string | null;
  custom_adapters: CustomAdapters;
}

/** The files that nodes of a kind are made from. */
export interface ImageFacts {
  /** Folder of the images below `images_path`. */
  readonly folder: string;
  /** Decides by the first bytes what is listed. */
  readonly isImage: (head: Buffer) => boolean;
  /** The files are programs: an upload may be executed. Default false. */
  readonly isProgram?: boolean;
}

/** The symbol of a kind's own; `controller` draws it. */
export interface SymbolFacts {
  /** Name of the symbol in the classic theme: `:/symbols/classic/{name}.svg`. */
  readonly name: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly figure: SymbolFigure;
  /** Written upon the figure. Default: nothing. */
  readonly letters?: string;
  /** Category of the symbol in the themes, and the name of its file in those of Affinity. Undefined: no theme has it. */
  readonly theme?: { readonly category: string; readonly affinity: string };
  /** Whether appliances of the category "guest" with a section of this type have this symbol. Default false. */
  readonly ofGuests?: true;
}

/** A program of this machine that nodes of a kind need, for `patchbay doctor`. */
export interface ProgramFacts {
  readonly name: string;
  /** Debian package of the program. Undefined: Debian has none. */
  readonly package?: string;
  /** Where Debian has no package: how to get the program. */
  readonly source?: string;
  /** Feature that does not work without the program. */
  readonly for: string;
  readonly versionArgs: readonly string[];
  /** Finds the version in what the program prints. */
  readonly version: RegExp;
  /** No node of this kind starts without it. Default false. */
  readonly isEmulator?: true;
  /** Most projects do without it. Default false. */
  readonly optional?: true;
}

/** Facts from which the templates of a kind are made. */
export interface TemplateFacts {
  /** `{name}` is the name of the template, `{0}` a number. */
  readonly default_name_format: string;
  readonly symbol: string;
  /** Undefined: `symbol` is one of the general ones. */
  readonly ownSymbol?: SymbolFacts;
  readonly category: Category;
  /** Keys that the kind adds to the common keys, with its defaults. Undefined: clients make no templates of this kind. */
  readonly properties?: TypeProperties;
  /** Properties that depend on others, such as those of a platform. */
  readonly more?: (settings: Readonly<Record<string, unknown>>) => TypeProperties;
  /** The template of this kind that every server has; GNS3's clients know its id, a UUID made from the type's name (version 3, DNS). */
  readonly builtIn?: { readonly template_id: string; readonly name: string; readonly settings?: Readonly<Record<string, unknown>> };
}

/** Names of a kind's properties in lab files, and the properties that cannot be changed afterwards. */
interface LabFacts {
  /** The property that `image` stands for. */
  readonly image?: string;
  /** Other properties of a node that a lab file makes with an image: without them the image would be of no use. */
  readonly imageDefaults?: Readonly<Record<string, string>>;
  /** The property, MiB, that `memory` stands for. */
  readonly memory?: string;
  /** The property that `cpus` stands for. */
  readonly cpus?: string;
  /** The start-up configuration: its path in the node's folder. `%h` in it stands for the node's name. */
  readonly startupFile?: string;
  /** Files of this folder of the node get onto a disk that the property attaches; `files`: usual names of start-up configurations. */
  readonly configDisk?: { readonly property: string; readonly folder: string; readonly files: readonly string[] };
  /** Other files of a node's folder that an export has, where they hold more than comments. */
  readonly files?: readonly string[];
  /** The kind's `ports_mapping` can be written as a number of ports; `vlan`: with VLANs. */
  readonly portList?: 'plain' | 'vlan';
  /** Properties that are decided when the node is made. */
  readonly fixed?: readonly string[];
  /** Properties that an export leaves out: the server chooses or computes them, or a file has their content. */
  readonly generated?: readonly string[];
}

export interface Kind {
  readonly type: NodeType;
  /** Name of the kind for users, in one word. */
  readonly title: string;
  readonly template: TemplateFacts;
  /** Body schemas of the compute's create and update routes, strict. */
  readonly create: TSchema;
  readonly update: TSchema;
  /** Body schema of the compute's start route. Default: the body is ignored. */
  readonly start?: TSchema;
  /** The start gets the licence that clients keep on the controller, in place of what the client sent. Default false. */
  readonly isLicensed?: true;
  /** Properties that null empties: computes are sent it when such a property becomes null. Other nulls are not sent, as by GNS3. */
  readonly emptiable?: readonly string[];
  /** Folder below `project-files/` in which the nodes' own folders stand. */
  readonly folder: string;
  readonly can: {
    /** Suspend and resume. */
    readonly suspend: boolean;
    /** Suspending a stopped node is an error; otherwise nothing happens. Default false. */
    readonly refuseSuspend?: true;
    /** Filters on its links; at least one end must. */
    readonly filter: boolean;
    /** Ports may be sent the frames of another link, as the node does not forward them by itself. Default false. */
    readonly mirror?: true;
    readonly resetConsole: boolean;
    readonly reload: boolean;
    readonly duplicate: boolean;
    /** Continue on another compute while it runs. Default false. */
    readonly liveMove?: true;
    /** Make its disks larger. Default false. */
    readonly resizeDisk?: true;
    /** Guests see that a link is missing or suspended, also in projects that do not replicate the state of links. Default false. */
    readonly replicateLinkState?: true;
    /** `start` answers 200 with the node, whose object has a command line; otherwise 204, and GNS3 allows no command line there. */
    readonly startAnswersNode: boolean;
    /** `port_number` chooses the port (otherwise `adapter_number` does and `port_number` is ignored). */
    readonly addressesByPort: boolean;
    /** `adapter_number` and `port_number` together choose the port: adapters have several. */
    readonly addressesByBoth?: true;
  };
  /** Is started when it is made, and stays so: for clients its verbs do nothing. */
  readonly alwaysRunning: boolean;
  /** Is inside the fabric and has no process. A switch is there while a link ends at it, and has neither folder nor command line. */
  readonly inFabric?: 'switch' | 'pc';
  /** Whether a node has a folder that clients may know; undefined: its object has no such key. Default: it has one unless it is `inFabric`. */
  readonly hasFolder?: (properties: Readonly<Record<string, unknown>>) => boolean | undefined;
  /** Has a console port of its own whatever the type of its console. Default false. */
  readonly reservesConsole?: boolean;
  /** The kind connects the project to the networks of the host: two uplinks cannot be linked. Default false. */
  readonly isUplink?: boolean;
  /** Goes to the compute `vm`, where there is one, when a project is imported. Default false. */
  readonly needsVmCompute?: true;
  /** The node's machine is in the folders of another program, so that a project with it cannot be exported. Default false. */
  readonly isExternal?: true;
  readonly consoleTypes: readonly ConsoleType[];
  readonly images?: ImageFacts;
  /** An engine of the host keeps its images: computes list them and take no upload. Default false. */
  readonly engineImages?: true;
  /** Properties that name files of `images`. Default: those whose names end in `image`, and `initrd`. */
  readonly imageProperties?: readonly string[];
  /** Emulators of the kind are never started unconfined: without namespaces its nodes do not start. Default false. */
  readonly needsNamespaces?: true;
  readonly programs?: readonly ProgramFacts[];
  /** Values of properties of a node that is made without them. Default: they are not the same for each node. */
  readonly nodeDefaults?: Readonly<Record<string, unknown>>;
  /** Facts for lab files. Default: nothing is special. */
  readonly lab?: LabFacts;
  /** A file of a node whose folder is lost, from its last command line; undefined: that does not say enough. */
  readonly carriedFile?: { readonly name: string; readonly from: (commandLine: string) => string | undefined };
  /** Files of the configs folder that exist by default: name to content. */
  readonly baseFiles?: Readonly<Record<string, string>>;
  readonly defaults: {
    readonly console_type: ConsoleType | null;
    readonly port_name_format: string;
    readonly port_segment_size: number;
  };
  /**
   * Refuses properties that a user of this server may not set, when a node or a template is made or changed. What a project brings is
   * refused by the compute when the node starts. @throws the fault
   */
  readonly checkRequest?: (properties: Readonly<Record<string, unknown>>, settings: Settings) => void;
  /** A node of this kind can be converted to one that runs here: what that has beside its disks. */
  readonly converted?: (properties: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Nodes of other kinds are converted to this one; `disks` are its properties for their disks, in order. */
  readonly machines?: { readonly disks: readonly string[] };
  /** Ports in order; a function of the properties and the naming rules. Throws a fault when a name format is not valid. */
  readonly ports: (properties: Readonly<Record<string, unknown>>, naming: PortNaming) => Port[];
}
