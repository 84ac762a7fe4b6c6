/** Routers are kept with their properties, configurations and images; running them is for a driver to come. */
import type { TypedRoute } from '../../api/route.ts';
import { named } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import type { StorageOnlyFacts } from '../storage-only/storage-only-driver.ts';
import { dynamipsKind } from './kind.ts';
import { routerDefaults, withBoards } from './properties.ts';

const node = '/v2/compute/projects/{project_id}/dynamips/nodes/{node_id}';
const refused = [
  {
    key: `GET ${node}/idlepc_proposals`,
    summary: 'Idle-PC values that may suit the image',
    reply: Type.Array(Type.String()),
    what: 'find idle-PC values',
  },
  {
    key: `GET ${node}/auto_idlepc`,
    summary: 'The idle-PC value that suits best',
    reply: Type.Object({ idlepc: Type.String() }, named('IdlePc')),
    what: 'find an idle-PC value',
  },
] as const;
type Refused = (typeof refused)[number];
/** What a compute that runs routers answers. */
export type IdlePcRoute = {
  [Key in Refused['key']]: TypedRoute<Key, undefined, Extract<Refused, { key: Key }>['reply']>;
}[Refused['key']];

export const dynamipsStorage: StorageOnlyFacts = {
  kind: dynamipsKind,
  defaults: routerDefaults,
  derived: withBoards,
  fixed: ['dynamips_id', 'platform'],
  image: { property: 'image', sum: 'image_md5sum' },
  number: { property: 'dynamips_id', last: 4096, within: 'project', isChecked: true },
  // GNS3's names have the router's number in them; a node's folder is its own here.
  configs: ['configs/startup-config.cfg', 'configs/private-config.cfg'],
  refused,
  exception: 'DynamipsError',
  missing: 'it does not run Dynamips yet. Place the node on a compute that does',
};
