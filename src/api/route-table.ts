/**
 * Finds the declared route of a request by its method and path, for HTTP and for calls within the process. A framework's router compiles
 * a function for each of 550 routes, which took a third of the server's start; this tree of path segments is built in milliseconds.
 */
import { type Method, methods, type Route } from './route.ts';

export interface RouteMatch {
  readonly route: Route;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** A route at the end of its path. */
interface PathEnd {
  readonly route: Route;
  /** Names of its parameters, in the order of the path. */
  readonly names: readonly string[];
}

type PathEnds = Map<string, PathEnd>;

/** Position in the tree: the segments before it have matched. */
interface PathNode {
  readonly literals: Map<string, PathNode>;
  /** Parameters of one segment; those with an expression are tried first. */
  readonly parameters: { readonly source: string | undefined; readonly expression: RegExp | undefined; readonly node: PathNode }[];
  /** Parameters `{name:.+}` of any number of segments, with the literal segments behind them; the longest list is tried first. */
  readonly tails: { readonly suffix: readonly string[]; readonly ends: PathEnds }[];
  readonly ends: PathEnds;
}

const parameter = /^\{(\w+)(?::(.+))?\}$/;

/**
 * `{name}` matches one segment that is not empty, `{name:expression}` one that matches the expression, and `{name:.+}` at least one
 * segment. Where several routes match, a literal segment wins over a parameter, and a parameter over `{name:.+}`.
 */
export class RouteTable {
  readonly #root: PathNode = newNode();

  /** @throws Error when two routes have the same method and path */
  constructor(routes: Iterable<Route>) {
    for (const route of routes) this.#add(route);
  }

  /** Finds the route of a request target: a path with or without a query, or an absolute address. */
  find(method: string, url: string): RouteMatch | undefined {
    const segments = segmentsOf(url);
    if (!segments) return undefined;
    const values: string[] = [];
    const end = search(this.#root, { method, segments, values }, 0);
    if (!end) return undefined;
    const params: Record<string, string> = {};
    for (let index = 0; index < values.length; index++) params[end.names[index] as string] = values[index] as string;
    return { route: end.route, params };
  }

  /** Lists the methods that have a route at this path. */
  methodsOf(url: string): Method[] {
    return methods.filter((method) => this.find(method, url) !== undefined);
  }

  #add(route: Route): void {
    const segments = route.template.slice(1).split('/');
    const names: string[] = [];
    let node = this.#root;
    let { ends } = node;
    for (const [index, segment] of segments.entries()) {
      const [, name, source] = segment.startsWith('{') ? (parameter.exec(segment) ?? []) : [];
      if (name !== undefined) names.push(name);
      if (source === '.+') {
        ends = endsOfTail(node, segments.slice(index + 1));
        break;
      }
      node = name === undefined ? literalOf(node, segment) : parameterOf(node, source);
      ends = node.ends;
    }
    if (ends.has(route.method)) throw new Error(`${route.key} is declared twice`);
    ends.set(route.method, { route, names });
  }
}

function newNode(): PathNode {
  return { literals: new Map(), parameters: [], tails: [], ends: new Map() };
}

function literalOf({ literals }: PathNode, segment: string): PathNode {
  const node = literals.get(segment) ?? newNode();
  literals.set(segment, node);
  return node;
}

function parameterOf({ parameters }: PathNode, source: string | undefined): PathNode {
  const known = parameters.find((one) => one.source === source);
  if (known) return known.node;
  const node = newNode();
  if (source === undefined) parameters.push({ source, expression: undefined, node });
  else parameters.unshift({ source, expression: new RegExp(`^(?:${source})$`), node });
  return node;
}

function endsOfTail({ tails }: PathNode, suffix: readonly string[]): PathEnds {
  const known = tails.find((tail) => tail.suffix.join('/') === suffix.join('/'));
  if (known) return known.ends;
  const ends: PathEnds = new Map();
  tails.push({ suffix, ends });
  tails.sort((one, other) => other.suffix.length - one.suffix.length);
  return ends;
}

/** Splits a request target into percent-decoded segments; undefined when it cannot be decoded or is no path. */
function segmentsOf(url: string): string[] | undefined {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (!target.startsWith('/')) return undefined;
  const [query, fragment] = [target.indexOf('?'), target.indexOf('#')];
  const end = Math.min(query < 0 ? target.length : query, fragment < 0 ? target.length : fragment);
  const path = target.slice(1, end);
  const segments = path.split('/');
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

interface RouteSearch {
  readonly method: string;
  readonly segments: readonly string[];
  /** Values of the parameters so far. */
  readonly values: string[];
}

function search(node: PathNode, wanted: RouteSearch, at: number): PathEnd | undefined {
  const { method, segments, values } = wanted;
  if (at === segments.length) return node.ends.get(method);
  const segment = segments[at] as string;
  const literal = node.literals.get(segment);
  const end = literal && search(literal, wanted, at + 1);
  if (end) return end;
  if (segment !== '') {
    for (const { expression, node: next } of node.parameters) {
      if (expression && !expression.test(segment)) continue;
      values.push(segment);
      const found = search(next, wanted, at + 1);
      if (found) return found;
      values.pop();
    }
  }
  return searchTails(node, wanted, at);
}

function searchTails({ tails }: PathNode, { method, segments, values }: RouteSearch, at: number): PathEnd | undefined {
  for (const { suffix, ends } of tails) {
    const last = segments.length - suffix.length;
    if (last <= at || suffix.some((literal, index) => segments[last + index] !== literal)) continue;
    const end = ends.get(method);
    const value = segments.slice(at, last).join('/');
    if (!end || value === '') continue;
    values.push(value);
    return end;
  }
  return undefined;
}
