/** IOU nodes: kept with all they have; their images cannot be run yet. */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import type { Driver, NodeNumbers, Properties } from '../driver.ts';
import { renameInConfigs, writeConfig } from '../facts/config-files.ts';
import type { Host } from '../host/host.ts';
import { type AbsentFacts, absentDriver, acceptIfThere, lowestFree } from '../storage-only/absent-driver.ts';
import { iouImages, iouKind } from './kind.ts';

const startupConfig = 'startup-config.cfg';
const privateConfig = 'private-config.cfg';
/** Numbers that IOU's own protocol leaves for nodes; the upper half is for their peers. */
const lastApplicationId = 511;

const facts: AbsentFacts = {
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
  exception: 'IOUError',
  missing: 'it does not run IOU images. Place the node on a compute that does',
};

export function iouDriver(host: Host): Driver {
  const images = host.images.of(iouImages);
  const base = absentDriver(facts);
  const accepted = async (given: Properties, projectDirectory: string) => ({
    ...given,
    path: await acceptIfThere(images, String(given.path), projectDirectory),
  });
  return {
    ...base,
    numbered: true,
    async create(input, node) {
      const given = await accepted(input, node.projectDirectory);
      return base.create({ ...given, application_id: input.application_id ?? freeApplicationId(node) }, node);
    },
    async update(current, changes, node) {
      const { application_id: _, ...others } = changes;
      return base.update(current, changes.path === undefined ? others : await accepted(others, node.projectDirectory), node);
    },
    present: (properties) => ({ ...properties, md5sum: images.md5(String(properties.path)) }),
    async populate(directory, input, name) {
      await writeConfig(join(directory, startupConfig), input.startup_config_content, name);
      await writeConfig(join(directory, privateConfig), input.private_config_content, name);
    },
    renamed: (directory, _from, to) => renameInConfigs(directory, [startupConfig, privateConfig], to),
  };
}

function freeApplicationId({ taken }: NodeNumbers): number {
  const free = lowestFree(taken?.('application_id', 'compute') ?? new Set(), 1, lastApplicationId);
  if (free === undefined) throw fault('node_numbers_exhausted', { node_type: 'iou', last: lastApplicationId });
  return free;
}
