/** `lab ping`: a PC measures, and answers with numbers. */
import { describeProbe } from '../../lab/checks/probes/pc-probe.ts';
import type { NodeProbe, NodeProbeAnswer } from '../../src/schema/pc-probe.ts';
import { type CliCall, type CliCommand, CliUsageError, projectOption, serverOptions, textOption } from '../command.ts';
import { getNode, readParts } from './find-parts.ts';
import { projectOf } from './lab-source.ts';

const options = {
  count: { value: 'N', description: 'Packets to send (default 5)' },
  size: { value: 'BYTES', description: 'Bytes of data of each (default 64)' },
  interval: { value: 'MS', description: 'Milliseconds between them (default 1000)' },
  tcp: { value: 'PORT', description: 'Connect to this TCP port instead' },
  trace: { description: 'Show the path of the packets instead' },
};

export const pingCommand: CliCommand = {
  name: 'lab ping',
  args: 'NODE ADDRESS',
  summary: 'Ping an address or a name from a running PC (VPCS); other nodes: `lab exec`',
  options: { ...options, ...projectOption, ...serverOptions },
  agent: { effect: 'reads', options: [...Object.keys(options), 'project'], results: [1] },
  examples: [
    { line: 'patchbay lab ping PC1 10.0.0.2 --count 3', does: 'Three pings; ends with 1 when one was lost' },
    { line: 'patchbay lab ping PC1 10.0.0.2 --tcp 80', does: 'Whether the port is open' },
  ],
  run: async (call) => {
    const [word, to] = call.args;
    if (word === undefined || to === undefined) throw new CliUsageError('who pings what? patchbay lab ping NODE ADDRESS');
    const probe = probeOf(call, to);
    const parts = await readParts(call.api, await projectOf(call));
    const node = getNode(parts, word);
    const answer = await call.api.json<NodeProbeAnswer>('POST', `${parts.path}/nodes/${node.node_id}/probe`, probe);
    if (call.out.isJson) call.out.json({ node: word, ...answer });
    else call.out.print(describeProbe(answer));
    return isAnswered(answer) ? 0 : 1;
  },
};

function probeOf(call: CliCall, to: string): NodeProbe {
  const number = (name: string) => {
    const text = textOption(call, name);
    if (text === undefined) return {};
    if (!/^\d{1,6}$/.test(text)) throw new CliUsageError(`--${name} takes a whole number`);
    return { [{ interval: 'interval_ms', tcp: 'port' }[name] ?? name]: Number(text) };
  };
  if (call.options.trace) return { type: 'trace', to };
  if (call.options.tcp !== undefined) return { type: 'tcp', to, ...number('tcp') };
  return { type: 'ping', to, ...number('count'), ...number('size'), ...number('interval') };
}

function isAnswered({ type, sent = 0, received = 0, outcome, arrived }: NodeProbeAnswer): boolean {
  if (type === 'ping') return sent > 0 && sent === received;
  return type === 'tcp' ? outcome === 'open' : arrived === true;
}
