import { Readable } from 'node:stream';
import { type Route, route } from '../../../api/route.ts';
import { Appliance } from '../../../schema/symbol.ts';
import { Type } from '../../../schema/type.ts';
import type { Controller } from '../../controller.ts';

export function applianceRoutes({ appliances }: Controller): Route[] {
  return [
    route(
      'GET /v2/appliances',
      {
        right: 'Appliance.Audit',
        summary: 'List the built-in appliances and those of the appliances folder, with symbols of a theme',
        reply: Type.Array(Appliance),
      },
      ({ query }) => (query.update === 'yes' ? appliances.update() : appliances.list(query.symbol_theme ?? 'Classic')),
    ),
    route(
      'POST /v2/appliances/files/{filename}',
      {
        right: 'Appliance.Allocate',
        summary: 'Upload an appliance file, which may take the place of one',
        raw: 'file',
        status: 204,
        own: true,
      },
      ({ path, stream }) => appliances.add(path.filename, stream ?? Readable.from([])),
    ),
  ];
}
