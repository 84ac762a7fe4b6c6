/** Storage of routers: their properties, numbers, images and configurations. */
import type { StorageOnlyFacts } from '../storage-only/storage-only-driver.ts';
import { configFiles } from './configs.ts';
import { dynamipsKind } from './kind.ts';
import { routerDefaults, withBoards } from './properties.ts';

export const dynamipsStorage: StorageOnlyFacts = {
  kind: dynamipsKind,
  defaults: routerDefaults,
  derived: withBoards,
  fixed: ['dynamips_id', 'platform'],
  image: { property: 'image', sum: 'image_md5sum' },
  number: { property: 'dynamips_id', last: 4096, within: 'project', isChecked: true },
  configs: [configFiles.startup, configFiles.private],
  exception: 'DynamipsError',
  missing: 'it does not run Dynamips',
};
