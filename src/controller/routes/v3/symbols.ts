import type { Route } from '../../../api/route.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

export function symbolRoutes(twin: DeclareTwin): Route[] {
  return [
    ...sameTwins(twin, [
      'GET /v3/symbols',
      'GET /v3/symbols/{symbol_id:.+}/raw',
      'GET /v3/symbols/{symbol_id:.+}/dimensions',
      'POST /v3/symbols/{symbol_id:.+}/raw',
    ]),
    twin('GET /v3/symbols/default_symbols', 'GET /v2/default_symbols'),
  ];
}
