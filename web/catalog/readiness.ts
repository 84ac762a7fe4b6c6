/** Determines the files that an appliance lacks until its template can be made. */

import { type Appliance, imagesOf, kindOf } from '../../src/schema/appliance.ts';
import type { App } from '../state/app.ts';
import { type ImagesByKind, isPresent, stateOf } from './catalog.ts';

export type Readiness =
  | { readonly state: 'installed' | 'ready' | 'pulled' }
  /** Files of the version that lacks the fewest. */
  | { readonly state: 'needs'; readonly count: number };

export const isReady = ({ state }: Readiness) => state !== 'needs';

export function readinessOf({ server }: App, appliance: Appliance, images: ImagesByKind): Readiness {
  if (server.templates.all.value.some(({ name, builtin }) => !builtin && name === appliance.name)) return { state: 'installed' };
  const kind = kindOf(appliance, server.kinds.value.keys()) ?? '';
  if (server.kinds.value.get(kind)?.engine_images) return { state: 'pulled' };
  const files = images.get(kind) ?? [];
  const lacking = (appliance.versions ?? []).map(
    (version) => imagesOf(appliance, version).filter((image) => !isPresent(stateOf(image, files).state)).length,
  );
  const count = Math.min(...lacking);
  return count > 0 && lacking.length > 0 ? { state: 'needs', count } : { state: 'ready' };
}
