/** Resources for agents: documents, and projects as lab files and as diagrams. */
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exportFrom } from '../../lab/export.ts';
import { LabError } from '../../lab/file/lab-error.ts';
import { getProject } from '../../lab/state/lab-state.ts';
import type { Project } from '../../src/schema/project.ts';
import type { CliCommand } from '../command.ts';
import type { ServerClient } from '../server-client.ts';
import { boundedText, TextOutput } from './text-output.ts';

interface ResourceEntry {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

/** A family of resources. */
export interface ResourceKind {
  readonly name: string;
  /** URI template (RFC 6570) with one variable. */
  readonly template: string;
  readonly variable: string;
  readonly description: string;
  readonly mimeType: string;
  list(): Promise<ResourceEntry[]>;
  /** Lists the values of the variable. */
  values(): Promise<string[]>;
  /** Reads a resource. @throws LabError when it does not exist */
  read(value: string): Promise<string>;
}

const documents = resolve(import.meta.dirname, '../../docs');

/** `graph`: the command that draws a topology. */
export function resourceKinds(api: ServerClient, graph: CliCommand): ResourceKind[] {
  return [
    documentKind,
    projectKind(api, 'lab.yaml', 'application/yaml', (id) => exported(api, id)),
    projectKind(api, 'topology', 'text/vnd.mermaid', (id) => drawn(api, graph, id)),
  ];
}

const documentKind: ResourceKind = {
  name: 'docs',
  template: 'patchbay://docs/{name}',
  variable: 'name',
  description: 'Documents of Patchbay: lab-file.md, verdicts.md, impairments.md, …',
  mimeType: 'text/markdown',
  list: async () =>
    (await documentNames()).map((name) => ({ uri: `patchbay://docs/${name}`, name: `docs/${name}`, mimeType: 'text/markdown' })),
  values: documentNames,
  read: async (name) => {
    if (!(await documentNames()).includes(name)) throw new LabError(`there is no document "${name}"`);
    return boundedText(await readFile(join(documents, name), 'utf8'));
  },
};

async function documentNames(): Promise<string[]> {
  return (await readdir(documents)).filter((name) => name.endsWith('.md')).sort();
}

function projectKind(api: ServerClient, name: string, mimeType: string, read: (id: string) => Promise<string>): ResourceKind {
  return {
    name,
    template: `patchbay://projects/{project}/${name}`,
    variable: 'project',
    description: name === 'lab.yaml' ? 'An open project as a lab file' : 'The topology of an open project as Mermaid',
    mimeType,
    list: async () =>
      (await openProjects(api)).map((project) => ({
        uri: `patchbay://projects/${project.project_id}/${name}`,
        name: `${project.name}: ${name}`,
        mimeType,
      })),
    values: async () => (await openProjects(api)).flatMap(({ name: own, project_id }) => [own ?? project_id, project_id]),
    read: async (id) => boundedText(await read(id)),
  };
}

async function openProjects(api: ServerClient): Promise<Project[]> {
  const projects = await api.json<Project[]>('GET', '/v2/projects');
  return projects.filter(({ status }) => status === 'opened');
}

async function exported(api: ServerClient, id: string): Promise<string> {
  return exportFrom(api, await getProject(api, id));
}

async function drawn(api: ServerClient, graph: CliCommand, id: string): Promise<string> {
  const out = new TextOutput();
  const signal = new AbortController().signal;
  // The command accepts names of files as well, so it gets the project's id.
  const { project_id } = await getProject(api, id);
  await graph.run({ args: [project_id], rest: [], options: {}, api, out, signal });
  return out.text;
}
