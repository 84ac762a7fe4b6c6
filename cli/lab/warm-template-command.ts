/** `patchbay lab keep`: turns the booted machine of a running node into a template. */
import type { Template } from '../../src/schema/template.ts';
import { type CliCommand, CliUsageError, projectOption, serverOptions } from '../command.ts';
import { getNode, readParts } from './find-parts.ts';
import { projectOf } from './lab-source.ts';

export const keepCommand: CliCommand = {
  name: 'lab keep',
  args: 'NODE [TEMPLATE]',
  summary: 'Make a template of the booted machine of a running node: nodes made from it do not boot',
  options: { ...projectOption, ...serverOptions },
  examples: [{ line: 'patchbay lab keep R1 booted', does: 'The template booted holds the machine R1 as it is now' }],
  run: async (call) => {
    const { out, api, args } = call;
    const [node, name, ...more] = args;
    if (node === undefined || more.length > 0) throw new CliUsageError('name a node, and the template in quotes');
    const parts = await readParts(api, await projectOf(call));
    const path = `${parts.path}/nodes/${getNode(parts, node).node_id}/warm_template`;
    const template = await api.json<Template>('POST', path, name === undefined ? {} : { name });
    const { bytes = 0, paused_ms = 0 } = template.warm ?? {};
    if (out.isJson) out.json(template);
    else out.print(`${template.name}: ${Math.ceil(bytes / 2 ** 20)} MiB, ${node} was paused for ${paused_ms} ms`);
    return 0;
  },
};
