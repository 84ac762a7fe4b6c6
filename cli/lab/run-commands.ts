/** Commands for an existing project: list, start, stop, impair, graph. */

import { readFilters } from '../../lab/file/filter-values.ts';
import { openProject } from '../../lab/open-lab.ts';
import { forEachBounded } from '../../src/lib/bounded.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { problemIn } from '../../src/schema/problem-marks.ts';
import type { Project } from '../../src/schema/project.ts';
import { type CliCall, type CliCommand, CliUsageError, printList, projectOption, serverOptions } from '../command.ts';
import { endNames, getLink, getNode, linkName, type ProjectParts, readParts } from './find-parts.ts';
import { namedProject, projectOf } from './lab-source.ts';

const options = { ...projectOption, ...serverOptions };
/** Nodes that are started or stopped at the same time. */
const atOnce = 8;

const listCommand: CliCommand = {
  name: 'lab list',
  args: '[PROJECT]',
  summary: 'List the projects of the server, or the nodes and links of one',
  options,
  agent: { effect: 'reads', options: [] },
  examples: [
    { line: 'patchbay lab list', does: 'All projects' },
    { line: 'patchbay lab list ring', does: 'The nodes of one, with their consoles, and why some do not run' },
  ],
  run: async (call) => {
    const [named] = call.args;
    if (named === undefined && call.options.project === undefined) return listProjects(call);
    const project = named === undefined ? await projectOf(call) : await namedProject(call, named);
    return listNodes(call, await readParts(call.api, project));
  },
};

async function listProjects(call: CliCall): Promise<number> {
  const projects = await call.api.json<Project[]>('GET', '/v2/projects');
  printList(call, projects, ['name', 'status', 'id'], ({ name, status, project_id }) => [name ?? '', status, project_id]);
  return 0;
}

function listNodes({ out }: CliCall, parts: ProjectParts): number {
  const { nodes, links } = parts;
  if (out.isJson) {
    out.json({ project: parts.project, nodes, links });
    return 0;
  }
  const consoleOf = ({ console: port, console_type, console_host }: Node) =>
    port === null || console_type === 'none' ? '' : `${console_type} ${console_host}:${port}`;
  out.table(
    ['node', 'kind', 'status', 'console'],
    nodes.map((node) => [node.name, node.node_type, node.status ?? '', consoleOf(node)]),
  );
  for (const { name, command_line } of nodes) {
    const problem = problemIn(command_line ?? null);
    if (problem !== undefined) out.print(`${name}: ${problem}`);
  }
  out.print('');
  out.table(
    ['link', 'filters', 'state'],
    links.map((link) => [linkName(parts, link), filterText(link), link.suspend ? 'suspended' : '']),
  );
  return 0;
}

function filterText({ filters }: Link): string {
  return Object.entries(filters)
    .map(([name, values]) => `${name}=${(values as readonly unknown[]).join(',')}`)
    .join(' ');
}

function powerCommand(verb: 'start' | 'stop'): CliCommand {
  const does = verb === 'start' ? 'Start' : 'Stop';
  return {
    name: `lab ${verb}`,
    args: '[NODE...]',
    summary: `${does} nodes of a project, or all of them${verb === 'start' ? '; a closed project is opened' : ''}`,
    options,
    agent: { effect: 'changes', options: ['project'] },
    examples: [
      { line: `patchbay lab ${verb}`, does: `${does} all nodes of the lab of this folder` },
      { line: `patchbay lab ${verb} R1 R2 -p ring`, does: `${does} two nodes` },
    ],
    run: async (call) => {
      const { api, out } = call;
      const project = await openProject(api, await projectOf(call));
      const parts = await readParts(api, project);
      const chosen = call.args.map((word) => getNode(parts, word));
      const nodes = chosen.length > 0 ? chosen : parts.nodes;
      const failed: string[] = [];
      await forEachBounded(nodes, atOnce, (node) =>
        api
          .json('POST', `${parts.path}/nodes/${node.node_id}/${verb}`, {})
          .catch((error: Error) => failed.push(`${node.name}: ${error.message}`)),
      );
      const now = await api.json<Node[]>('GET', `${parts.path}/nodes`);
      const concerned = now.filter(({ node_id }) => nodes.some((node) => node.node_id === node_id));
      if (out.isJson) out.json(concerned.map(({ name, node_id, status }) => ({ name, node_id, status })));
      else
        out.table(
          ['node', 'status'],
          concerned.map(({ name, status }) => [name, status ?? '']),
        );
      for (const line of failed) out.note(line);
      return failed.length > 0 ? 1 : 0;
    },
  };
}

const impairCommand: CliCommand = {
  name: 'lab impair',
  args: 'LINK [FILTER=VALUE...]',
  summary: 'Set the impairments of a link while traffic flows; without a filter, remove them. Others that it has stay with --add',
  options: {
    add: { description: 'Keep the filters that the link has' },
    suspend: { description: 'The link carries no frames' },
    resume: { description: 'Resume the link' },
    ...options,
  },
  agent: { effect: 'changes', options: ['add', 'suspend', 'resume', 'project'] },
  examples: [
    { line: 'patchbay lab impair R1-R2 delay=20ms loss=1%', does: 'Both directions' },
    { line: 'patchbay lab impair R1:eth0 ab.loss=5% rate=10mbit', does: 'Loss only from the first end of the link to the second' },
    { line: 'patchbay lab impair R1-R2', does: 'Remove all impairments' },
  ],
  run: async (call) => {
    const { api, out } = call;
    const { parts, link, body } = await impairmentOf(call);
    const changed = await api.json<Link>('PUT', `${parts.path}/links/${link.link_id}`, body);
    if (out.isJson) out.json(changed);
    else out.print(impairmentText(parts, changed));
    return 0;
  },
};

/** Parses the arguments of `lab impair`: the link, and the fields that change. @throws CliUsageError, LabError */
export async function impairmentOf(
  call: CliCall,
): Promise<{ parts: ProjectParts; link: Link; body: { filters?: Link['filters']; suspend?: boolean } }> {
  const [word, ...settings] = call.args;
  if (word === undefined) throw new CliUsageError('which link? Name it as R1-R2 or R1:eth0');
  const parts = await readParts(call.api, await projectOf(call));
  const link = getLink(parts, word);
  const { suspend, resume, add } = call.options;
  const isSwitched = suspend === true || resume === true;
  const filters = { ...(add === true && link.filters), ...readFilters(settingsOf(settings)) };
  const body = { ...((settings.length > 0 || !isSwitched) && { filters }), ...(isSwitched && { suspend: suspend === true }) };
  return { parts, link, body };
}

export function impairmentText(parts: ProjectParts, link: Link): string {
  return `${linkName(parts, link)}: ${filterText(link) || 'no impairments'}${link.suspend ? ', suspended' : ''}`;
}

/** Parses settings in the form of a lab file: `delay=20ms`, `ab.loss=1%`. */
function settingsOf(words: readonly string[]): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const word of words) {
    const [, direction, name, value] = /^(?:(ab|ba)\.)?([A-Za-z_]+)=(.+)$/s.exec(word) ?? [];
    if (name === undefined) throw new CliUsageError(`"${word}" is not a filter: write NAME=VALUE, such as delay=20ms`);
    if (direction === undefined) settings[name] = value;
    else settings[direction] = { ...(settings[direction] as object | undefined), [name]: value };
  }
  return settings;
}

const graphCommand: CliCommand = {
  name: 'lab graph',
  args: '[PROJECT]',
  summary: 'Draw the topology, with the impairments of links, as Mermaid, or as DOT for Graphviz',
  options: { dot: { description: 'DOT in place of Mermaid' }, ...options },
  agent: { effect: 'reads', options: ['dot'] },
  examples: [{ line: 'patchbay lab graph ring --dot | dot -Tsvg > ring.svg', does: 'A picture by Graphviz' }],
  run: async (call) => {
    const [named] = call.args;
    const parts = await readParts(call.api, named === undefined ? await projectOf(call) : await namedProject(call, named));
    if (call.out.isJson)
      call.out.json({
        nodes: parts.nodes.map(({ name, node_type }) => ({ name, kind: node_type })),
        links: parts.links.map((link) => endNames(parts, link)),
      });
    else call.out.print(call.options.dot === true ? dotOf(parts) : mermaidOf(parts));
    return 0;
  },
};

function dotOf(parts: ProjectParts): string {
  const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  const edgeOf = (link: Link) => {
    const [one, other] = endNames(parts, link);
    const filters = filterText(link);
    const labels = `taillabel=${quoted(one?.port ?? '')}, headlabel=${quoted(other?.port ?? '')}${filters && `, label=${quoted(filters)}`}`;
    return `  ${quoted(one?.node ?? '')} -- ${quoted(other?.node ?? '')} [${labels}];`;
  };
  return [
    `graph ${quoted(parts.project.name ?? 'lab')} {`,
    ...parts.nodes.map(({ name, node_type }) => `  ${quoted(name)} [tooltip=${quoted(node_type)}];`),
    ...parts.links.map(edgeOf),
    '}',
  ].join('\n');
}

function mermaidOf(parts: ProjectParts): string {
  const ids = new Map(parts.nodes.map(({ name }, index) => [name, `n${index}`]));
  const quoted = (text: string) => `"${text.replaceAll('"', '#quot;')}"`;
  const edgeOf = (link: Link) => {
    const [one, other] = endNames(parts, link);
    const label = [`${one?.port} ${other?.port}`, filterText(link)].filter((text) => text !== '').join(', ');
    return `  ${ids.get(one?.node ?? '')} ---|${quoted(label)}| ${ids.get(other?.node ?? '')}`;
  };
  return ['graph LR', ...parts.nodes.map(({ name }) => `  ${ids.get(name)}[${quoted(name)}]`), ...parts.links.map(edgeOf)].join(
    '\n',
  );
}

export const runCommands = [listCommand, powerCommand('start'), powerCommand('stop'), impairCommand, graphCommand];
