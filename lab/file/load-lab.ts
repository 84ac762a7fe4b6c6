/** Reads a lab file with its includes, and resolves it. */
import { basename } from 'node:path';
import { ShapeChecks } from './check-shape.ts';
import { readDrawing } from './drawing-svg.ts';
import { expandLinks } from './expand-links.ts';
import { expandNodes } from './expand-nodes.ts';
import type { Lab, LabLink } from './lab.ts';
import { readLabChecks, readLabTest } from './lab-checks.ts';
import { LabError, type Place } from './lab-error.ts';
import { besideFile, type LabFiles } from './lab-files.ts';
import { LabFile } from './lab-schema.ts';
import { isTreeMap, Places, readYaml, type Tree, type TreeMap } from './read-yaml.ts';
import { fill, fillAll, nodeVariables, type Values, type Variable, variable, variableName } from './variables.ts';

export interface LabSource {
  readonly text: string;
  /** Name of the file for messages; files that it names are relative to its folder. */
  readonly file: string;
  readonly files: LabFiles;
  /** Variables, which override those of the file. */
  readonly vars?: Readonly<Record<string, string | number | boolean>>;
}

const mostIncludes = 32;
const deepestInclude = 8;

/** A parsed file, before its variables are replaced. */
interface WrittenPart {
  readonly file: string;
  readonly tree: TreeMap;
}

/** Loads a lab. @throws LabError with file, line and column of the first error */
export async function loadLab(source: LabSource): Promise<Lab> {
  const places = new Places();
  const parts = await readParts(source, places);
  const values = collectVariables(parts, source.vars ?? {}, places);
  const checks = new ShapeChecks();
  for (const { tree } of parts) {
    fillPart(tree, values, places);
    checks.check(LabFile, tree, places);
  }
  return resolve(parts as readonly { file: string; tree: LabFile & TreeMap }[], { ...source, places, values });
}

interface Resolving {
  readonly places: Places;
  readonly values: Values;
  readonly files: LabFiles;
}

async function resolve(
  parts: readonly { readonly file: string; readonly tree: LabFile & TreeMap }[],
  context: Resolving & { readonly file: string },
): Promise<Lab> {
  const main = parts[0]?.tree ?? {};
  const { places } = context;
  const nodes = await expandNodes(parts, context);
  const names = new Set(nodes.map(({ name }) => name));
  const links: LabLink[] = [];
  for (const { file, tree } of parts) links.push(...(await expandLinks(tree.links ?? [], { ...context, names, file })));
  return {
    name: main.name ?? (basename(context.file).replace(/(\.lab)?\.(ya?ml|json)$/i, '') || 'lab'),
    project: Object.assign({}, ...parts.toReversed().map(({ tree }) => tree.project ?? {})) as Lab['project'],
    nodes,
    links,
    drawings: parts.flatMap(({ tree: { drawings = [] } }) =>
      drawings.map((drawing, index) => readDrawing(drawing, places.of(drawings, index))),
    ),
    checks: parts.flatMap((part) => readLabChecks(part, names, places)),
    test: readLabTest(
      parts.map(({ tree }) => tree),
      names,
      places,
    ),
  };
}

/** Reads the file, then its includes. */
async function readParts({ text, file, files }: LabSource, places: Places): Promise<WrittenPart[]> {
  const parts: WrittenPart[] = [];
  const seen = new Set<string>();
  const add = async (content: string, name: string, depth: number): Promise<void> => {
    const { value } = readYaml(content, name, places);
    if (!isTreeMap(value)) throw new LabError(`${name} is not a lab file: it must be a map with \`nodes\` and \`links\``);
    parts.push({ file: name, tree: value });
    for (const [index, named] of includesOf(value, places).entries()) {
      const place = places.of(value.include as object, index);
      const path = besideFile(named, name, place);
      if (seen.has(path)) continue;
      seen.add(path);
      if (depth >= deepestInclude || seen.size > mostIncludes) {
        throw new LabError(`at most ${mostIncludes} files are included, ${deepestInclude} levels deep`, place);
      }
      await add(await files.read(path, place), path, depth + 1);
    }
  };
  const main = basename(file);
  seen.add(main);
  await add(text, main, 0);
  return parts;
}

function includesOf(tree: TreeMap, places: Places): string[] {
  const { include } = tree;
  if (include === undefined) return [];
  if (Array.isArray(include) && include.every((one): one is string => typeof one === 'string')) return include;
  throw new LabError('`include` is a list of file names', places.of(tree, 'include'));
}

/** Collects the variables. The file overrides its includes, and the command line overrides both. */
function collectVariables(parts: readonly WrittenPart[], given: NonNullable<LabSource['vars']>, places: Places): Values {
  const values = new Map<string, Variable>();
  for (const { tree } of parts.toReversed()) {
    const { vars } = tree;
    if (vars === undefined || vars === null) continue;
    if (!isTreeMap(vars)) throw new LabError('`vars` is a map of names to values', places.of(tree, 'vars'));
    for (const [name, value] of Object.entries(vars)) {
      const place = places.of(vars, name);
      values.set(checkName(name, place), variable(scalar(value, place), places.wordOf(vars, name)));
    }
  }
  for (const [name, value] of Object.entries(given)) values.set(checkName(name, undefined), variable(value));
  return values;
}

function checkName(name: string, place: Place | undefined): string {
  if (variableName.test(name) && !(nodeVariables as readonly string[]).includes(name)) return name;
  throw new LabError(
    `"${name.slice(0, 70)}" cannot be a variable: letters, digits and _ beginning with a letter; not node or index`,
    place,
  );
}

function scalar(value: Tree, place: Place | undefined): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new LabError('a variable is a text, a number, true or false', place);
}

/** Fills in the variables, except those of nodes, which are known when the nodes are expanded. */
function fillPart(tree: TreeMap, values: Values, places: Places): void {
  for (const [key, value] of Object.entries(tree)) {
    if (key === 'vars' || key === 'include') continue;
    const later = key === 'nodes' || key === 'defaults' ? nodeVariables : [];
    tree[key] =
      typeof value === 'string' ? fill(value, values, places.of(tree, key), later) : fillAll(value, values, places, later);
  }
}
