/** Plans the changes of agents, by the name of their command. */
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import { type CliCall, type CliCommand, CliUsageError } from '../command.ts';
import { getNode, type ProjectParts, readParts } from '../lab/find-parts.ts';
import { labOf, projectOf } from '../lab/lab-source.ts';
import { impairmentOf, impairmentText } from '../lab/run-commands.ts';
import type { ServerClient } from '../server-client.ts';
import type { AgentChange, MadeChange, PlanChange, Undo } from './change.ts';
import { planApply } from './plan-apply.ts';
import { planCapture } from './plan-capture.ts';
import { TextOutput } from './text-output.ts';
import { undoOfSteps } from './undo-steps.ts';

export const changePlans: Readonly<Record<string, (command: CliCommand) => PlanChange>> = {
  'lab apply': () => planApply,
  'lab start': (command) => planPower(command, 'start'),
  'lab stop': (command) => planPower(command, 'stop'),
  'lab impair': (command) => planImpair(command),
  'lab exec': (command) => planExec(command),
  'lab capture': () => planCapture,
  test: (command) => planTest(command),
};

/** Runs a command and returns its output as a change. */
async function runCommand(command: CliCommand, call: CliCall): Promise<MadeChange> {
  const out = new TextOutput();
  const code = await command.run({ ...call, out });
  return { text: out.text, isError: code !== 0 && !(command.agent?.results ?? []).includes(code) };
}

const statusOf = ({ nodes }: ProjectParts) => new Map(nodes.map(({ node_id, status }) => [node_id, status]));

function planPower(command: CliCommand, verb: 'start' | 'stop'): PlanChange {
  return async (call) => {
    const project = await projectOf(call);
    const change = verb === 'start' ? 'started' : 'stopped';
    if (project.status !== 'opened' && verb === 'stop') throw new CliUsageError(`${project.name} is closed`);
    if (project.status !== 'opened') return planOpening(command, call, project);
    const before = await readParts(call.api, project);
    const chosen = call.args.length > 0 ? call.args.map((word) => getNode(before, word)) : before.nodes;
    const concerned = chosen.filter(({ status }) => status !== change);
    const names = concerned
      .map(({ name, status }) => `${name} (${status})`)
      .toSorted()
      .join(', ');
    return {
      preview: `In ${project.name}, these nodes are to be ${change}: ${names || 'none, all are already'}`,
      undo: `Undoing it ${verb === 'start' ? 'stops the nodes again' : 'starts the nodes again; what they had in memory is lost'}.`,
      make: async () => {
        const made = await runCommand(command, { ...call, args: chosen.map(({ node_id }) => node_id) });
        const statuses = statusOf(await readParts(call.api, project));
        const changed = concerned.filter(({ node_id }) => statuses.get(node_id) === change);
        return changed.length === 0 ? made : { ...made, undo: undoOfPower(call.api, before.path, changed, verb) };
      },
    };
  };
}

function undoOfPower(api: ServerClient, path: string, nodes: readonly Node[], verb: 'start' | 'stop'): Undo {
  const opposite = verb === 'start' ? 'stop' : 'start';
  const names = nodes.map(({ name }) => name).join(', ');
  return {
    does: `${opposite} ${names}`,
    run: async () => {
      for (const { node_id } of nodes) await api.json('POST', `${path}/nodes/${node_id}/${opposite}`, {});
      return `Undone: ${opposite} ${names}.`;
    },
  };
}

function planOpening(command: CliCommand, call: CliCall, { name, project_id }: Project): AgentChange {
  return {
    preview: `${name} is closed. It is opened, and its nodes are started.`,
    undo: 'Undoing it closes the project.',
    make: async () => ({
      ...(await runCommand(command, call)),
      undo: {
        does: `close ${name}`,
        run: async () => {
          await call.api.json('POST', `/v2/projects/${project_id}/close`, {});
          return `Undone: ${name} is closed.`;
        },
      },
    }),
  };
}

function planImpair(command: CliCommand): PlanChange {
  return async (call, client) => {
    const { parts, link, body } = await impairmentOf(call);
    const after: Link = { ...link, ...body };
    return {
      preview: `now:  ${impairmentText(parts, link)}\nthen: ${impairmentText(parts, after)}`,
      undo: 'It is one step, which can be undone.',
      make: async () => {
        const made = await runCommand(command, call);
        const undo = await undoOfSteps(call.api, { projectId: parts.project.project_id, client });
        return undo ? { ...made, undo } : made;
      },
    };
  };
}

function planExec(command: CliCommand): PlanChange {
  return async (call) => {
    const [word = ''] = call.args;
    const node = getNode(await readParts(call.api, await projectOf(call)), word);
    if (/[\r\n\p{Cc}]/u.test(call.rest.join(' ')))
      throw new CliUsageError('the command must be one line without control characters');
    if (node.status !== 'started') throw new CliUsageError(`${node.name} is ${node.status}. Start it first`);
    return {
      preview: `Types into the console of ${node.name} (${node.node_type}): ${call.rest.join(' ')}`,
      undo: 'What a command changes inside a node cannot be undone.',
      make: () => runCommand(command, call),
    };
  };
}

function planTest(command: CliCommand): PlanChange {
  return async (call) => {
    const lab = await labOf(call);
    return {
      preview: `Makes ${lab.name} as a project of its own with ${lab.nodes.length} nodes, starts them, and runs ${lab.checks.length} checks`,
      undo: 'The project is removed when the test has ended: there is nothing to undo.',
      make: () => runCommand(command, call),
    };
  };
}
