/** Commands about a lab file and its project: plan, apply, diff, export, destroy. */
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { applyPlan } from '../../lab/apply.ts';
import { exportFrom, readForExport } from '../../lab/export.ts';
import { exportContainerlab } from '../../lab/export-containerlab.ts';
import type { Lab } from '../../lab/file/lab.ts';
import { openProject, planOn } from '../../lab/open-lab.ts';
import { driftOf, type LabPlan, linesOf } from '../../lab/plan/lab-plan.ts';
import type { Project } from '../../src/schema/project.ts';
import { type CliCall, type CliCommand, CliUsageError, projectOption, serverOptions, textOption, varOption } from '../command.ts';
import { reportLines } from './import-command.ts';
import { labOf, namedProject, projectOf } from './lab-source.ts';
import { showDrift, showLacks, showPlan } from './show-plan.ts';

const fileOptions = {
  project: { ...projectOption.project, description: 'Name or id of an existing project, in place of the name in the file' },
  ...varOption,
};
const yes = { yes: { short: 'y', description: 'Do not ask before nodes are deleted or made anew' } };

/** Exit code when there are changes. */
const changesCode = 2;

const planCommand: CliCommand = {
  name: 'lab plan',
  args: '[FILE]',
  takesFiles: true,
  summary: 'Show what `apply` would do; exit code 0: nothing, 2: changes, 1: an error',
  options: { ...fileOptions, ...serverOptions },
  agent: { effect: 'reads', options: ['project', 'var'], results: [2] },
  examples: [
    { line: 'patchbay lab plan', does: 'The plan of ./lab.yaml' },
    { line: 'patchbay lab plan ring.yaml --json', does: 'The plan for a program' },
  ],
  run: async (call) => {
    const plan = await planOf(call, await labOf(call));
    const lines = linesOf(plan);
    if (call.out.isJson) call.out.json(lines);
    else showPlan(lines, call.out);
    if (!call.out.isJson) showLacks(plan, call.out);
    return lines.length === 0 ? 0 : changesCode;
  },
};

const diffCommand: CliCommand = {
  name: 'lab diff',
  args: '[FILE]',
  takesFiles: true,
  summary: 'Show how the project differs from the file; exit code 0: not at all, 2: it does, 1: an error',
  options: { ...fileOptions, ...serverOptions },
  agent: { effect: 'reads', options: ['project', 'var'], results: [2] },
  examples: [{ line: 'patchbay lab diff ring.yaml', does: 'Show changes made in the page since the lab was applied' }],
  run: async (call) => {
    const lines = driftOf(await planOf(call, await labOf(call)));
    if (call.out.isJson) call.out.json(lines);
    else showDrift(lines, call.out);
    return lines.length === 0 ? 0 : changesCode;
  },
};

const applyCommand: CliCommand = {
  name: 'lab apply',
  args: '[FILE]',
  takesFiles: true,
  summary: 'Create or change a project until it is as the file says',
  options: {
    plan: { description: 'Only show the plan; exit code as of `plan`' },
    start: { description: 'Start all nodes afterwards' },
    strict: { description: 'Refuse the lab when images or programs are missing; otherwise its nodes say what they lack' },
    ...yes,
    ...fileOptions,
    ...serverOptions,
  },
  agent: { effect: 'changes', options: ['project', 'var'] },
  examples: [
    { line: 'patchbay lab apply ring.yaml --start', does: 'Make the lab and start it' },
    { line: 'patchbay lab apply ring.yaml --var image=frr:9', does: 'With another value of a variable' },
  ],
  run: async (call) => {
    if (call.options.plan) return planCommand.run(call);
    const lab = await labOf(call);
    return applyLab(call, lab, await planOf(call, lab, true));
  },
};

const exportCommand: CliCommand = {
  name: 'lab export',
  args: '[PROJECT]',
  summary: 'Write a project as a lab file that applies to the same thing',
  options: {
    containerlab: { description: 'A topology of containerlab, with a report of what it cannot say' },
    output: { value: 'FILE', short: 'o', description: 'Write to this file', isFile: true },
    ...projectOption,
    ...serverOptions,
  },
  agent: { effect: 'reads', options: ['containerlab'] },
  examples: [{ line: 'patchbay lab export ring -o lab.yaml', does: 'Put a lab that was drawn in the page under version control' }],
  run: async (call) => {
    const [named] = call.args;
    const project = named === undefined ? await projectOf(call) : await namedProject(call, named);
    const text =
      call.options.containerlab === true ? await exportForContainerlab(call, project) : await exportFrom(call.api, project);
    const file = textOption(call, 'output');
    if (file === undefined) call.out.write(text);
    else await writeFile(file, text);
    return 0;
  },
};

async function exportForContainerlab({ api, out }: CliCall, project: Project): Promise<string> {
  const [state, catalog] = await readForExport(api, project);
  const { text, report } = exportContainerlab(state, catalog);
  for (const line of reportLines(report)) out.note(line);
  return text;
}

const destroyCommand: CliCommand = {
  name: 'lab destroy',
  args: '[FILE|PROJECT]',
  takesFiles: true,
  summary: 'Stop the nodes of a project and delete it with its files',
  options: { ...yes, ...projectOption, ...serverOptions },
  examples: [{ line: 'patchbay lab destroy ring.yaml --yes', does: 'Remove the lab without a question' }],
  run: async (call) => {
    const [named] = call.args;
    const project = named === undefined ? await projectOf(call) : await namedProject(call, named);
    await confirm(call, `Delete the project ${project.name} with its files?`);
    if (project.status === 'opened') await call.api.json('POST', `/v2/projects/${project.project_id}/close`, {});
    await call.api.json('DELETE', `/v2/projects/${project.project_id}`);
    if (call.out.isJson) call.out.json({ project_id: project.project_id, name: project.name });
    else call.out.print(`Deleted ${project.name}.`);
    return 0;
  },
};

export const applyCommands = [planCommand, applyCommand, diffCommand, exportCommand, destroyCommand];

/** Plans a lab. `open` opens a closed project first. */
export async function planOf({ api, options }: CliCall, lab: Lab, open = false): Promise<LabPlan> {
  return planOn(api, lab, { ...(typeof options.project === 'string' && { project: options.project }), open });
}

/** Shows the plan, asks before something is lost, and applies the plan. @returns the exit code */
export async function applyLab(call: CliCall, lab: Lab, plan: LabPlan): Promise<number> {
  const { api, out, signal } = call;
  const lines = linesOf(plan);
  if (!out.isJson) {
    showPlan(lines, out);
    showLacks(plan, out);
  }
  const losses = plan.nodes.filter(({ action }) => action === 'delete' || action === 'replace');
  if (losses.length > 0) await confirm(call, `Delete ${losses.map(({ name }) => name).join(', ')} with their files?`);
  const start = call.options.start === true;
  const project = await applyPlan(api, lab, plan, {
    start,
    strict: call.options.strict === true,
    signal,
    onProgress: ({ step, done, total }) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${step} ${done}/${total}`);
    },
  });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  if (start && project.status !== 'opened') await openProject(api, project);
  if (out.isJson) out.json({ project_id: project.project_id, name: project.name, plan: lines });
  else
    out.print(
      `${project.name} is as the file says${start ? ', and its nodes are started' : ''}: ${api.url}/projects/${project.project_id}`,
    );
  return 0;
}

/** Asks a question. @throws CliUsageError unless the answer is yes */
async function confirm({ options, signal }: CliCall, question: string): Promise<void> {
  if (options.yes === true) return;
  if (!process.stdin.isTTY) throw new CliUsageError(`${question} Confirm with --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliUsageError('nothing was changed');
  } finally {
    terminal.close();
  }
}
