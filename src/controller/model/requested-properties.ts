/** Checks the properties that a user sets on a node of this server, before anything is made or kept. */
import { kinds } from '../../emulators/kinds.ts';
import type { Settings } from '../../schema/settings.ts';

interface Requested {
  readonly node_type: string;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/** Returns `wanted`. @throws the fault of the kind, such as `qemu_option_unsafe` */
export function checkRequested<Wanted extends Requested>(wanted: Wanted, settings: Settings): Wanted {
  const { node_type, properties } = wanted;
  const kind = Object.entries(kinds).find(([type]) => type === node_type)?.[1];
  if (properties !== undefined) kind?.checkRequest?.(properties, settings);
  return wanted;
}
