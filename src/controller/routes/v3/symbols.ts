import { type Route, route } from '../../../api/route.ts';
import type { Controller } from '../../controller.ts';
import { type DeclareTwin, sameTwins } from './twins.ts';

export function symbolRoutes({ symbols }: Controller, twin: DeclareTwin): Route[] {
  return [
    ...sameTwins(twin, [
      'GET /v3/symbols',
      'GET /v3/symbols/{symbol_id:.+}/raw',
      'GET /v3/symbols/{symbol_id:.+}/dimensions',
      'POST /v3/symbols/{symbol_id:.+}/raw',
    ]),
    twin('GET /v3/symbols/default_symbols', 'GET /v2/default_symbols'),
    route(
      'DELETE /v3/symbols/{symbol_id:.+}',
      { summary: 'Delete a symbol of a user; nodes that have it show the standard one', status: 204, right: 'Symbol.Allocate' },
      ({ path }) => symbols.remove(path.symbol_id),
    ),
  ];
}
