/** The properties of an IOU node as they are kept. */
import type { Properties } from '../driver.ts';

export interface IouProperties {
  readonly application_id: number;
  readonly ethernet_adapters: number;
  readonly serial_adapters: number;
  readonly l1_keepalives: boolean;
  /** KiB. */
  readonly nvram: number;
  /** The image. */
  readonly path: string;
  /** MiB. */
  readonly ram: number;
  readonly use_default_iou_values: boolean;
}

/** Casts properties that were completed and checked when the node was made. */
export function asIou(properties: Properties): IouProperties {
  return properties as unknown as IouProperties;
}
