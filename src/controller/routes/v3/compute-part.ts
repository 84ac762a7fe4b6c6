import type { Route, RouteKey } from '../../../api/route.ts';
import { twinsOf } from './twins.ts';

/** Mounts the compute API of GNS3 2.2 as the compute part of `/v3`; what is Patchbay's own stays below `/v2`. */
export function computePartRoutes(routes: readonly Route[]): Route[] {
  const twin = twinsOf(routes);
  return routes.flatMap(({ key, spec, socket }) => {
    if (spec.own || socket || !key.includes(' /v2/compute/')) return [];
    return [twin(key.replace(' /v2/', ' /v3/') as RouteKey, key)];
  });
}
