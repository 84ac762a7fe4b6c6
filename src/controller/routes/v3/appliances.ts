import { fault } from '../../../api/faults.ts';
import { type Route, route } from '../../../api/route.ts';
import { GivenName, named, Text } from '../../../schema/common.ts';
import { Appliance } from '../../../schema/symbol.ts';
import { Type } from '../../../schema/type.ts';
import { standardTheme } from '../../catalog/appliances.ts';
import type { Controller } from '../../controller.ts';
import type { ApplianceInstaller } from '../../library/appliance-installer.ts';

const file = () => Type.Optional(Text({ maxLength: 255 }));
const ApplianceVersion3 = Type.Object(
  {
    name: GivenName({ maxLength: 255 }),
    idlepc: Type.Optional(Type.String({ pattern: '^0x[0-9a-f]{8}', maxLength: 20 })),
    images: Type.Optional(
      Type.Object(
        {
          kernel_image: file(),
          initrd: file(),
          image: file(),
          bios_image: file(),
          hda_disk_image: file(),
          hdb_disk_image: file(),
          hdc_disk_image: file(),
          hdd_disk_image: file(),
          cdrom_image: file(),
        },
        named('ApplianceVersionImages'),
      ),
    ),
  },
  named('ApplianceVersion'),
);

export function applianceRoutes({ appliances }: Controller, installer: ApplianceInstaller): Route[] {
  return [
    route(
      'GET /v3/appliances',
      {
        summary: 'List the built-in appliances and those of the appliances folder, with symbols of a theme',
        query: { update: Type.Boolean(), symbol_theme: Type.String() },
        reply: Type.Array(Appliance),
        right: 'Appliance.Audit',
      },
      ({ query: { update, symbol_theme = standardTheme } }) =>
        update === 'true' ? appliances.update() : appliances.listIdentified(symbol_theme),
    ),
    route(
      'GET /v3/appliances/{appliance_id}',
      { summary: 'Get an appliance', reply: Appliance, right: 'Appliance.Audit' },
      ({ path }) => appliances.get(path.appliance_id),
    ),
    route(
      'POST /v3/appliances/{appliance_id}/version',
      {
        summary: 'Add a version to an appliance, of which the appliances folder has the file then',
        body: ApplianceVersion3,
        status: 201,
        reply: Appliance,
        right: 'Appliance.Allocate',
      },
      async ({ path, body: { images = {}, ...version } }) => {
        const { name } = await appliances.get(path.appliance_id);
        const files = Object.fromEntries(Object.entries(images).filter(([, value]) => value !== ''));
        if (Object.keys(files).length === 0) throw fault('appliance_invalid', { file: name, reason: 'a version needs images' });
        return appliances.addVersion(path.appliance_id, { ...version, images: files });
      },
    ),
    route(
      'POST /v3/appliances/{appliance_id}/install',
      {
        summary: 'Make the template of a version of an appliance; images that are missing are downloaded where it says from where',
        query: { version: Type.String() },
        status: 204,
        fillsDisk: true,
        right: 'Appliance.Allocate',
      },
      async ({ path, query, signal, client }) => {
        await installer.install(path.appliance_id, query.version, { signal, ...(client !== undefined && { client }) });
      },
    ),
  ];
}
