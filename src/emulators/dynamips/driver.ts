/**
 * Routers: their properties, configurations and images are kept whole; running them is for a driver to come, which replaces
 * `absentDriver` here.
 */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { route } from '../../api/route.ts';
import { named } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';
import type { Driver, NodeAccess, NodeNumbers, Properties } from '../driver.ts';
import { renameInConfigs, writeConfig } from '../facts/config-files.ts';
import type { Host } from '../host/host.ts';
import { type AbsentFacts, absentDriver, acceptIfThere, lowestFree, refuseFor } from '../storage-only/absent-driver.ts';
import { dynamipsImages, dynamipsKind } from './kind.ts';
import { routerDefaults, withBoards } from './properties.ts';

/** In the node's folder. GNS3's names have the router's number in them; a node's folder is its own here. */
const startupConfig = 'configs/startup-config.cfg';
const privateConfig = 'configs/private-config.cfg';
const lastId = 4096;
const IdlePc = Type.Object({ idlepc: Type.String() }, named('IdlePc'));

const facts: AbsentFacts = {
  kind: dynamipsKind,
  defaults: routerDefaults,
  exception: 'DynamipsError',
  missing: 'it does not run Dynamips yet. Place the node on a compute that does',
};

export function dynamipsDriver(host: Host): Driver {
  const images = host.images.of(dynamipsImages);
  const base = absentDriver(facts);
  const accepted = async (given: Properties, projectDirectory: string) => ({
    ...given,
    image: await acceptIfThere(images, String(given.image), projectDirectory),
  });
  return {
    ...base,
    numbered: true,
    async create(input, node) {
      const dynamips_id = numberFor(input, node);
      const complete = await base.create({ ...(await accepted(input, node.projectDirectory)), dynamips_id }, node);
      return Object.freeze(withBoards(complete));
    },
    async update(current, changes, node) {
      const { dynamips_id: _, platform: __, ...others } = changes;
      const wanted = changes.image === undefined ? others : await accepted(others, node.projectDirectory);
      return Object.freeze(withBoards(await base.update(current, wanted, node)));
    },
    present: (properties) => ({ ...properties, image_md5sum: images.md5(String(properties.image)) }),
    async populate(directory, input, name) {
      await writeConfig(join(directory, startupConfig), input.startup_config_content, name);
      await writeConfig(join(directory, privateConfig), input.private_config_content, name);
    },
    renamed: (directory, _from, to) => renameInConfigs(directory, [startupConfig, privateConfig], to),
    routes: (nodes) => idlePcRoutes(facts, nodes),
  };
}

export function idlePcRoutes(facts: AbsentFacts, nodes: NodeAccess) {
  return [
    route(
      'GET /v2/compute/projects/{project_id}/dynamips/nodes/{node_id}/idlepc_proposals',
      { summary: 'Idle-PC values that may suit the image', reply: Type.Array(Type.String()) },
      refuseFor(facts, nodes, 'find idle-PC values'),
    ),
    route(
      'GET /v2/compute/projects/{project_id}/dynamips/nodes/{node_id}/auto_idlepc',
      { summary: 'The idle-PC value that suits best', reply: IdlePc },
      refuseFor(facts, nodes, 'find an idle-PC value'),
    ),
  ];
}

/** Unique in the project. @throws node_numbers_exhausted, node_number_taken */
function numberFor({ dynamips_id: wanted }: Properties, { taken }: NodeNumbers): number {
  const others = taken?.('dynamips_id', 'project') ?? new Set();
  if (typeof wanted === 'number') {
    if (others.has(wanted)) throw fault('node_number_taken', { property: 'dynamips_id', number: wanted });
    return wanted;
  }
  const free = lowestFree(others, 1, lastId);
  if (free === undefined) throw fault('node_numbers_exhausted', { node_type: 'dynamips', last: lastId });
  return free;
}
