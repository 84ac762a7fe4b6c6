/** Derives a tool's input from the declaration of its command: a JSON Schema, and the conversion to a command line. */
import type { CliCall, CliCommand } from '../command.ts';
import { defaultFile } from '../lab/lab-source.ts';

/** Longest lab file as text, characters; the same as for a file. */
const longestLab = 1_048_576;
const longestText = 4_096;
const mostItems = 1_000;

interface Argument {
  /** Name of the argument in the input. */
  readonly property: string;
  readonly isRequired: boolean;
  readonly isList: boolean;
  readonly isFile: boolean;
}

export interface ToolSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Returns the tool's name: `lab impair` → `lab_impair`. */
export function toolName({ name }: CliCommand): string {
  return name.replaceAll(' ', '_');
}

export function toolSchema(command: CliCommand): ToolSchema {
  const args = argumentsOf(command);
  const properties: Record<string, object> = {};
  for (const { property, isList, isFile } of args) {
    const item = { type: 'string', minLength: 1, maxLength: longestText };
    properties[property] = isList
      ? { type: 'array', items: item, maxItems: mostItems, description: describe(command, property) }
      : { ...item, description: describe(command, property) };
    if (isFile) properties.lab = { type: 'string', maxLength: longestLab, description: 'Text of a lab file, in place of `file`' };
  }
  if (command.takesRest)
    properties.command = { type: 'string', minLength: 1, maxLength: longestText, description: 'What is typed into the console' };
  for (const name of command.agent?.options ?? []) properties[name] = optionSchema(command, name);
  const required = args.filter(({ isRequired }) => isRequired).map(({ property }) => property);
  return {
    type: 'object',
    properties,
    required: [...required, ...(command.takesRest ? ['command'] : [])],
    additionalProperties: false,
  };
}

export type ToolInput = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Converts an input that the schema has validated. */
export function callParts(command: CliCommand, input: ToolInput): Pick<CliCall, 'args' | 'rest' | 'options' | 'labText'> {
  const args = argumentsOf(command).flatMap(({ property }) => input[property] ?? []);
  const options = Object.fromEntries(
    (command.agent?.options ?? []).flatMap((name) => {
      const value = input[name];
      return value === undefined ? [] : [[name, typeof value === 'number' ? String(value) : value]];
    }),
  );
  return {
    args: args.map(String),
    rest: typeof input.command === 'string' ? [input.command] : [],
    options,
    ...(typeof input.lab === 'string' && { labText: input.lab }),
  };
}

/**
 * Lists the files that a call may read: the lab file, and the project, which an argument or option may name by its lab file. A call
 * that names none reads the default file.
 */
export function filesOfCall(command: CliCommand, input: ToolInput): string[] {
  const known = [...argumentsOf(command).map(({ property }) => property), ...(command.agent?.options ?? [])];
  const named = ['file', 'project'].flatMap((property) => {
    const value = input[property];
    return known.includes(property) && typeof value === 'string' ? [value] : [];
  });
  const alternatives = known.includes('file') ? ['file', 'lab'] : ['project'];
  return alternatives.some((property) => input[property] !== undefined) ? named : [...named, defaultFile];
}

/** Parses the arguments in the help: `[FILE]`, `NODE -- COMMAND`, `LINK [FILTER=VALUE...]`. */
function argumentsOf({ name, args, takesRest }: CliCommand): Argument[] {
  const words = (takesRest ? (args.split(' --')[0] ?? '') : args).split(' ').filter(Boolean);
  return words.map((word) => {
    const [, bare = '', dots] = /^\[?([A-Z]+)[^.\]]*(\.\.\.)?\]?$/.exec(word) ?? [];
    const property = bare.toLowerCase();
    return {
      property: dots ? `${property}s` : property,
      isRequired: !word.startsWith('['),
      isList: dots !== undefined,
      // A lab of another program is read from its file only.
      isFile: property === 'file' && name !== 'lab import',
    };
  });
}

function describe({ args }: CliCommand, property: string): string {
  const texts: Readonly<Record<string, string>> = {
    file: `Path of a lab file, in the folder of this server${args.startsWith('[') ? ' (default lab.yaml)' : ''}`,
    project: 'Name or id of the project',
    node: 'Name or id of the node',
    nodes: 'Names or ids of nodes (default: all)',
    link: 'The link: R1-R2, R1:eth0, R1:eth0-R2:eth1, or its id',
    filters: 'FILTER=VALUE each: delay=20ms, loss=1%, ab.rate=10mbit. None: impairments are removed',
  };
  return texts[property] ?? property;
}

function optionSchema({ options }: CliCommand, name: string): object {
  const option = options[name];
  if (!option) throw new Error(`there is no option ${name}`);
  const { value, multiple } = option;
  const description = option.description.replace(' (default $PATCHBAY_PROJECT, else', ' (default:');
  if (value === undefined) return { type: 'boolean', description };
  if (value === 'N' || value === 'SECONDS') return { type: 'number', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description };
  const text = { type: 'string', minLength: 1, maxLength: longestText };
  return multiple ? { type: 'array', items: text, maxItems: mostItems, description } : { ...text, description };
}
