/** Expands the nodes of a lab file: defaults, ranges, counts, and the files that they name. */
import type { LabNode, NodeShort } from './lab.ts';
import { LabError, type Place } from './lab-error.ts';
import { besideFile, type LabFiles } from './lab-files.ts';
import { type LabFile, type NodeSpec, passedNodeFields, type TextOrFile } from './lab-schema.ts';
import { expandName, type RangedName } from './ranges.ts';
import type { Places, TreeMap } from './read-yaml.ts';
import { copyTree, fill, fillAll, type Values, variable } from './variables.ts';

/** Most nodes of one lab. */
const mostNodes = 5000;

interface ExpandContext {
  readonly places: Places;
  readonly values: Values;
  readonly files: LabFiles;
}

interface LabPart {
  readonly file: string;
  readonly tree: LabFile & TreeMap;
}

/** Expands the nodes, in the order of the files. @throws LabError */
export async function expandNodes(parts: readonly LabPart[], context: ExpandContext): Promise<LabNode[]> {
  const { places } = context;
  const defaults = Object.assign({}, ...parts.toReversed().map(({ tree }) => tree.defaults ?? {})) as NodeSpec;
  const isPlaced = parts.some(({ tree }) => tree.placement === 'auto');
  const nodes = new Map<string, LabNode>();
  for (const { file, tree } of parts) {
    for (const [key, given] of Object.entries(tree.nodes ?? {})) {
      const place = places.of(tree.nodes as object, key);
      for (const one of namesOf(key, given ?? {}, place)) {
        if (nodes.has(one.name)) throw new LabError(`there is another node "${one.name}". Give each a name of its own`, place);
        if (nodes.size >= mostNodes) throw new LabError(`a lab has at most ${mostNodes} nodes`, place);
        const inherited = inheritedFrom(defaults, given ?? {});
        const spec = withDefaults(defaults, given ?? {});
        nodes.set(one.name, await nodeOf(one, spec, { ...context, file, place, isPlaced, inherited }));
      }
    }
  }
  return [...nodes.values()];
}

function namesOf(key: string, { name, count }: NodeSpec, place: Place | undefined): RangedName[] {
  const names = name !== undefined ? [{ name, index: 1 }] : expandName(count === undefined ? key : `${key}[1-${count}]`, place);
  for (const one of names) {
    if (/[\s{}\p{Cc}]/u.test(one.name) || one.name === '') {
      throw new LabError(
        `"${one.name.slice(0, 100)}" cannot be the name of a node: spaces, braces and control characters are not used`,
        place,
      );
    }
  }
  return names;
}

/**
 * Merges the defaults. `properties`, `files` and `vlans` are merged by key; a node with a kind or template takes neither from the
 * defaults.
 */
function withDefaults(defaults: NodeSpec, given: NodeSpec): NodeSpec {
  const { kind: _kind, template: _template, ...others } = defaults;
  const base = given.kind !== undefined || given.template !== undefined ? others : defaults;
  return {
    ...base,
    ...given,
    ...(base.properties && { properties: { ...base.properties, ...given.properties } }),
    ...(base.files && { files: { ...base.files, ...given.files } }),
  };
}

/** Returns the names of fields and properties that the node has from the defaults alone. */
function inheritedFrom(defaults: NodeSpec, given: NodeSpec): ReadonlySet<string> {
  const fields = Object.keys(defaults).filter((key) => !Object.hasOwn(given, key));
  const properties = Object.keys(defaults.properties ?? {}).filter((key) => !Object.hasOwn(given.properties ?? {}, key));
  return new Set([...fields, ...properties]);
}

interface OneNode extends ExpandContext {
  readonly inherited: ReadonlySet<string>;
  readonly file: string;
  readonly place: Place | undefined;
  /** Whether the server chooses the compute, because the file names none. */
  readonly isPlaced: boolean;
}

async function nodeOf({ name, index }: RangedName, given: NodeSpec, context: OneNode): Promise<LabNode> {
  const { places, place } = context;
  const values: Values = new Map([...context.values, ['node', variable(name)], ['index', variable(index)]]);
  const spec = fillAll(copyTree(given, places), values, places) as NodeSpec;
  if ((spec.kind === undefined) === (spec.template === undefined)) {
    const problem = spec.kind === undefined ? 'has neither kind nor template' : 'has both kind and template';
    throw new LabError(`node ${name} ${problem}. Give one of them, here or in \`defaults\``, place);
  }
  const one = { ...context, values };
  const files = await Promise.all(
    Object.entries(spec.files ?? {}).map(async ([path, content]) => [checkPath(path, place), await textOf(content, one)] as const),
  );
  return {
    name,
    place,
    kind: spec.kind,
    template: spec.template,
    compute: spec.compute ?? (context.isPlaced ? 'auto' : 'local'),
    short: shortOf(spec),
    fields: Object.fromEntries(
      Object.keys(passedNodeFields).flatMap((key) => (key in spec ? [[key, spec[key as keyof NodeSpec]]] : [])),
    ),
    label: spec.label,
    properties: spec.properties ?? {},
    inherited: context.inherited,
    config: spec.config === undefined ? undefined : await textOf(spec.config, one),
    files: new Map(files),
  };
}

function shortOf({ image, memory, cpus, adapters, ports, vlans }: NodeSpec): NodeShort {
  return {
    ...(image !== undefined && { image }),
    ...(memory !== undefined && { memory: mebibytes(memory) }),
    ...(cpus !== undefined && { cpus }),
    ...(adapters !== undefined && { adapters }),
    ...(ports !== undefined && { ports }),
    ...(vlans !== undefined && { vlans }),
  };
}

function mebibytes(memory: number | string): number {
  if (typeof memory === 'number') return memory;
  return Math.round(Number.parseFloat(memory) * (/G/.test(memory) ? 1024 : 1));
}

/** Returns a text or reads its file. Variables in texts of the lab file have been replaced already. */
async function textOf(content: TextOrFile, { files, file, values, place }: OneNode): Promise<string> {
  if (typeof content === 'string') return content;
  const text = await files.read(besideFile(content.file, file, place), place);
  return content.vars ? String(fill(text, values, place)) : text;
}

function checkPath(path: string, place: Place | undefined): string {
  const parts = path.replace(/^\/+/, '').split('/');
  if (parts.every((part) => part !== '' && !/^\.\.?$/.test(part)) && !/[\\\p{Cc}]/u.test(path) && path.length <= 1000)
    return parts.join('/');
  throw new LabError(`"${path.slice(0, 100)}" is not a path in the folder of a node`, place);
}
