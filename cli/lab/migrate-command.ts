/** `patchbay lab migrate`: moves a node to another compute. */
import { LabError, suggestion } from '../../lab/file/lab-error.ts';
import type { ComputeObject } from '../../src/schema/compute.ts';
import type { NodeMigration } from '../../src/schema/move.ts';
import { type CliCall, type CliCommand, CliUsageError, projectOption, serverOptions } from '../command.ts';
import { getNode, readParts } from './find-parts.ts';
import { projectOf } from './lab-source.ts';

export const migrateCommand: CliCommand = {
  name: 'lab migrate',
  args: 'NODE COMPUTE',
  summary: 'Move a node to another compute: a running QEMU machine while it runs',
  options: { ...projectOption, ...serverOptions },
  examples: [{ line: 'patchbay lab migrate R1 rack2', does: 'The machine R1 continues on the compute rack2' }],
  run: async (call) => {
    const { out, api, args } = call;
    const [name, to] = args;
    if (name === undefined || to === undefined) throw new CliUsageError('name a node and a compute');
    const parts = await readParts(api, await projectOf(call));
    const node = getNode(parts, name);
    const { compute_id } = await findCompute(call, to);
    const moved = await api.json<NodeMigration>('POST', `${parts.path}/nodes/${node.node_id}/migrate`, { compute_id });
    if (out.isJson) out.json(moved);
    else out.print(`${node.name}: on ${to}, ${moved.live ? `paused for ${moved.paused_ms} ms` : 'moved while it did not run'}`);
    return 0;
  },
};

/** Finds a compute by name or id. @throws LabError */
async function findCompute({ api }: CliCall, word: string): Promise<ComputeObject> {
  const all = await api.json<ComputeObject[]>('GET', '/v2/computes');
  const found = all.find(({ name, compute_id }) => name === word || compute_id === word);
  if (found) return found;
  const names = all.map(({ name }) => name);
  throw new LabError(`there is no compute "${word}"${suggestion(word, names)}`);
}
