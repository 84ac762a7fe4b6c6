import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import { Appliance } from '../../../schema/symbol.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';
import type { DeclareTwin } from './twins.ts';

/** Theme whose symbols appliances show unless another is asked for. Source: GNS3 3.x. */
const theme = 'Affinity-square-blue';

export function applianceRoutes({ appliances }: Controller, twin: DeclareTwin): Route[] {
  return [
    twin('GET /v3/appliances', 'GET /v2/appliances', {
      query: { update: Type.Boolean(), symbol_theme: Type.String() },
      request: (call) => {
        const { update, symbol_theme = theme } = call.query;
        return { ...call, query: { symbol_theme, ...(update === 'true' && { update: 'yes' }) } };
      },
    }),
    route(
      'GET /v3/appliances/{appliance_id}',
      { summary: 'Get an appliance', reply: Appliance, right: 'Appliance.Audit' },
      async ({ path: { appliance_id } }) => {
        const all = await appliances.list(theme);
        const found = all.find((one) => one.appliance_id === appliance_id);
        if (!found) throw fault('appliance_not_found', { appliance_id });
        return found;
      },
    ),
  ];
}
