/** Properties that IOU nodes store. */

import { configFiles } from '../ios-nvram/configs.ts';
import type { StoredFacts } from '../storage-only/storage-only-driver.ts';
import { iouKind } from './kind.ts';

export const iouStorage: StoredFacts = {
  kind: iouKind,
  defaults: ({ application_id, path }) => ({
    application_id,
    ethernet_adapters: 2,
    l1_keepalives: false,
    nvram: 256,
    path,
    ram: 1024,
    serial_adapters: 2,
    usage: '',
    use_default_iou_values: false,
  }),
  fixed: ['application_id'],
  image: { property: 'path', sum: 'md5sum' },
  // Numbers that IOU's own protocol leaves for nodes; the upper half is for their peers.
  number: { property: 'application_id', last: 511, within: 'compute' },
  configs: configFiles,
};
