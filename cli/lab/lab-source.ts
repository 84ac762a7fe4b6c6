/** Finds the lab file and the project to which a command refers. */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import type { Lab } from '../../lab/file/lab.ts';
import { LabError } from '../../lab/file/lab-error.ts';
import { filesBelow } from '../../lab/file/lab-files.ts';
import { type LabSource, loadLab } from '../../lab/file/load-lab.ts';
import { readYaml } from '../../lab/file/read-yaml.ts';
import { getProject } from '../../lab/state/lab-state.ts';
import type { Project } from '../../src/schema/project.ts';
import { type CliCall, CliUsageError, textOption } from '../command.ts';

export const defaultFile = 'lab.yaml';

/** Loads the lab of the given file, or of `lab.yaml`. */
export async function labOf(call: CliCall): Promise<Lab> {
  return loadLab(await labSourceOf(call));
}

export async function labSourceOf(call: CliCall): Promise<LabSource> {
  const { args, labText } = call;
  const vars = variablesOf(call);
  if (labText !== undefined) return { text: labText, file: defaultFile, files: filesBelow(process.cwd()), vars };
  return readSource(args[0] ?? defaultFile, vars);
}

type Variables = Readonly<Record<string, string | number | boolean>>;

export async function readLab(file: string, vars: Variables = {}): Promise<Lab> {
  return loadLab(await readSource(file, vars));
}

async function readSource(file: string, vars: Variables): Promise<LabSource> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'there is no such file' : error.message;
    throw new LabError(`${file} cannot be read: ${reason}. Name a lab file, or write ${defaultFile}`);
  });
  return { text, file: basename(file), files: filesBelow(dirname(file)), vars };
}

function variablesOf({ options }: CliCall): Variables {
  const given = Array.isArray(options.var) ? (options.var as readonly string[]) : [];
  return Object.fromEntries(
    given.map((text) => {
      const equals = text.indexOf('=');
      if (equals < 1) throw new CliUsageError(`--var takes NAME=VALUE, not "${text}"`);
      return [text.slice(0, equals), readValue(text.slice(equals + 1))];
    }),
  );
}

/**
 * Parses a value like a lab file does: a number, true or false, a text in quotes, or a plain text. A value whose text would change
 * (`1.10`, `007`, `True`) is a text, because it may be part of one.
 */
export function readValue(text: string): string | number | boolean {
  try {
    const { value } = readYaml(text, '--var');
    if ((typeof value === 'boolean' || typeof value === 'number') && String(value) === text) return value;
    if (typeof value === 'string' && /^["']/.test(text)) return value;
  } catch {
    // A text that is not valid YAML is used as it is.
  }
  return text;
}

/** Finds the project by `--project`, `PATCHBAY_PROJECT`, or the lab file of this folder; else the only open project. */
export async function projectOf(call: CliCall): Promise<Project> {
  const named = textOption(call, 'project') ?? (process.env.PATCHBAY_PROJECT || undefined);
  if (named !== undefined) return namedProject(call, named);
  if (await isFile(defaultFile)) return getProject(call.api, (await readLab(defaultFile)).name);
  const open = (await call.api.json<Project[]>('GET', '/v2/projects')).filter(({ status }) => status === 'opened');
  const [only] = open;
  if (only && open.length === 1) return only;
  const names = open.map(({ name }) => name).join(', ');
  throw new CliUsageError(
    `which project? Name it with --project${names ? ` (open: ${names})` : ''}, or change to the folder of a ${defaultFile}`,
  );
}

/** Finds a project by name; a lab file means the project of the lab's name. */
export async function namedProject({ api }: CliCall, named: string): Promise<Project> {
  const isLab = ['.yaml', '.yml', '.json'].includes(extname(named)) && (await isFile(named));
  return getProject(api, isLab ? (await readLab(named)).name : named);
}

export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
