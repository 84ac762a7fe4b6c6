/** A lab after its file was resolved: short forms, ranges, variables and includes. */

import type { Filters } from '../../src/schema/filter.ts';
import type { Label, NodeType } from '../../src/schema/node.ts';
import type { ProjectUpdate } from '../../src/schema/project.ts';
import type { FidelitySettings, TestNode } from '../checks/definition/step-schema.ts';
import type { CheckStep } from '../checks/definition/steps.ts';
import type { Place } from './lab-error.ts';
import type { LabSchedule } from './link-schedule.ts';

export interface LabNode {
  readonly name: string;
  readonly place: Place | undefined;
  /** Type of the node; either this or `template` is given. */
  readonly kind: NodeType | undefined;
  readonly template: string | undefined;
  readonly compute: string;
  readonly short: NodeShort;
  /** Fields of the API's node object. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly label: Omit<Label, 'text'> | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Fields and properties that come from the defaults of the file: a kind that does not know them does without. */
  readonly inherited: ReadonlySet<string>;
  /** The start-up configuration. */
  readonly config: string | undefined;
  /** Content by path in the node's folder. */
  readonly files: ReadonlyMap<string, string>;
}

/** Short forms whose meaning depends on the kind. */
export interface NodeShort {
  readonly image?: string;
  /** MiB. */
  readonly memory?: number;
  readonly cpus?: number;
  readonly adapters?: number;
  readonly ports?: number;
  readonly vlans?: Readonly<Record<string, number | string>>;
}

export interface LabEnd {
  readonly node: string;
  /** Name of the port; undefined: the first free one. */
  readonly port: string | undefined;
  readonly label: Partial<Label> | undefined;
}

export interface LabLink {
  readonly ends: readonly [LabEnd, LabEnd];
  readonly filters: Filters;
  readonly suspend: boolean;
  /** Port to which the link's frames are mirrored. */
  readonly mirror: Omit<LabEnd, 'label'> | undefined;
  readonly schedule: LabSchedule | undefined;
  readonly style: Readonly<Record<string, unknown>> | undefined;
  readonly place: Place | undefined;
}

export interface LabDrawing {
  readonly svg: string;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly rotation: number;
  readonly locked: boolean;
}

/** Settings of the test. */
export interface LabTestSettings {
  /** Seed of filters without one. */
  readonly seed: number | undefined;
  /** Settings of nodes by name. */
  readonly nodes: ReadonlyMap<string, TestNode>;
  readonly fidelity: FidelitySettings;
}

export interface Lab {
  readonly name: string;
  readonly project: ProjectUpdate;
  readonly nodes: readonly LabNode[];
  readonly links: readonly LabLink[];
  readonly drawings: readonly LabDrawing[];
  readonly checks: readonly CheckStep[];
  readonly test: LabTestSettings;
}
