/**
 * Declares the right that a route needs, and checks it. A right is decided on a path in the spelling of `/v3`, without the prefix
 * (`/projects/{project_id}/nodes`), so that both generations of the API decide alike. Nothing here knows how accounts are stored.
 */
import { type Privilege, privileges } from '../schema/privilege.ts';
import { fault } from './faults.ts';
import type { RouteMatch } from './route-table.ts';

/** A privilege on the path of the request, or on another path made of the route's parameters. */
export type Need = Privilege | `${Privilege} /${string}`;

/** Rights that no privilege gives. */
type RightWord =
  /** Anyone has it, also without a login. */
  | 'open'
  /** Every account has it. The handler leaves out of its answer the objects that the account may not see. */
  | 'login'
  /** Accounts that `isAdministrator` accepts have it. */
  | 'administrator'
  /** Administrators have it, and controllers by the credentials with which they register a compute: for routes of the compute's API. */
  | 'compute'
  /** The handler checks a token or a secret of the route's own. */
  | 'secret';

/** A list: every need of it must be met. */
export type FixedRight = RightWord | Need | readonly Need[];

/** A function is given the path's parameters. */
export type Right = FixedRight | ((params: Readonly<Record<string, string>>) => FixedRight);

/** The account of a request, and its rights. */
export interface Caller {
  readonly userId: string;
  readonly username: string;
  readonly isSuperAdmin: boolean;
  /** Id of the personal access token that the request was sent with. */
  readonly tokenId?: string;
  /** The request had no login, and the server needs none. */
  readonly isAnonymous?: true;
  /** Whether the account has the privilege on a path such as `/projects/<id>`. */
  may(privilege: Privilege, path: string): boolean;
  /** False since the login ended, the token expired, or the account was changed in a way that ends its logins. */
  isValid(): boolean;
  /** Registers a listener for changes of accounts and rights, where there are any. Returns its removal. */
  onChange?(listener: () => void): () => void;
  /** Returns what `filter` finds in a frozen list: the same frozen list again while list and rights are the same. */
  keepList?<T>(privilege: Privilege, list: readonly T[], filter: () => T[]): readonly T[];
  /** Adds a project to the resource pools of the one that it is a copy of, where there are accounts. Returns its removal. */
  joinPools?(source: string, copy: string): Promise<() => Promise<void>>;
}

/** Verifies logins. */
export interface Authenticator {
  /**
   * Verifies a user and a password, or a personal access token in its place; failures are answered later and later. `client`: see
   * `Call.client`. @throws too_many_logins
   */
  signIn(login: { readonly user: string; readonly password: string; readonly client: string }): Promise<Caller | undefined>;
  /** Verifies an access token or a personal access token. */
  bearer(token: string): Promise<Caller | undefined>;
  /** Registers a listener for changes of accounts and rights. Returns its removal. */
  onChange(listener: () => void): () => void;
}

/** A caller with all rights: of a server without accounts, and of tests. */
export const unrestricted: Caller = {
  userId: '',
  username: '',
  isSuperAdmin: true,
  isAnonymous: true,
  may: () => true,
  isValid: () => true,
};

/** Whether the request's account has a privilege on a path. The server's own calls have no account and all rights. */
export function mayCall({ caller }: { readonly caller?: Caller }, privilege: Privilege, path: string): boolean {
  return caller === undefined || caller.may(privilege, path);
}

/** @throws forbidden */
export function requirePrivilege(call: { readonly caller?: Caller }, privilege: Privilege, path: string): void {
  if (!mayCall(call, privilege, path)) throw fault('forbidden', { privilege, path });
}

/** Returns the things of a list that the request's account may see. */
export function visible<T>(
  { caller }: { readonly caller?: Caller },
  list: readonly T[],
  privilege: Privilege,
  pathOf: (one: T) => string,
) {
  if (caller === undefined || caller.isSuperAdmin) return list;
  const filter = () => list.filter((one) => caller.may(privilege, pathOf(one)));
  return caller.keepList && Object.isFrozen(list) ? caller.keepList(privilege, list, filter) : filter();
}

/** Whether the account is a super admin, or has every privilege on `/`: one who may grant himself everything. */
export function isAdministrator(caller: Caller): boolean {
  return caller.isSuperAdmin || privileges.every((privilege) => caller.may(privilege, '/'));
}

/**
 * Begin of paths on which copies of projects are decided: `/copies/{project_id}` is granted by a right on a pool of the project, which the
 * copy joins, or on `/projects`.
 */
export const copiesPath = '/copies/';

/** Returns the declared right of a request. */
export function rightOf({ route: { spec }, params }: RouteMatch): FixedRight {
  return typeof spec.right === 'function' ? spec.right(params) : spec.right;
}

/** A privilege on a path, which an account has or lacks. */
interface PathPrivilege {
  readonly privilege: Privilege;
  readonly path: string;
}

/** Lists the privileges that a request needs, with their paths; none for a word. */
export function needsOf(match: RouteMatch): PathPrivilege[] {
  const right = rightOf(match);
  if (isWord(right)) return [];
  const needs = typeof right === 'string' ? [right] : right;
  return needs.map((need) => {
    const [privilege = '', template = pathTemplate(match.route.template)] = need.split(' ', 2);
    return { privilege: privilege as Privilege, path: fillPath(template, match.params) };
  });
}

/**
 * Checks that an account may send a request. In `/v2` a project that the account may not see is answered as one that does not exist.
 * @throws forbidden, administrator_needed, project_not_found
 */
export function requireRight(match: RouteMatch, caller: Caller): void {
  const lacking = findLacking(match, caller);
  if (lacking === undefined) return;
  const { project_id } = match.params;
  const isHidden = project_id !== undefined && match.route.template.startsWith('/v2/projects/');
  if (isHidden && !caller.may('Project.Audit', `/projects/${canonicalId(project_id)}`))
    throw fault('project_not_found', { project_id });
  if (lacking === 'administrator') throw fault('administrator_needed', {});
  const { privilege, path } = lacking;
  throw fault('forbidden', { privilege, path: path.startsWith(copiesPath) ? '/projects' : path });
}

/** Returns the first need that the account lacks; undefined when it may send the request. */
export function findLacking(match: RouteMatch, caller: Caller): PathPrivilege | 'administrator' | undefined {
  const right = rightOf(match);
  if (right === 'administrator' || right === 'compute') return isAdministrator(caller) ? undefined : 'administrator';
  return needsOf(match).find(({ privilege, path }) => !caller.may(privilege, path));
}

function isWord(right: FixedRight): right is RightWord {
  return typeof right === 'string' && !right.includes('.');
}

/** Returns a route's template without its prefix. */
export function pathTemplate(template: string): string {
  return template.replace(/^\/v\d(?=\/)/, '');
}

/** Fills in parameters. Ids are written in one way: a handler may accept a UUID in another spelling, which must not be another path. */
function fillPath(template: string, params: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)(?::[^}]*)?\}/g, (_, name: string) => {
    const value = params[name] ?? '';
    return name.endsWith('_id') ? canonicalId(value) : value;
  });
}

/** Returns a UUID in its usual spelling, from any that Python's `UUID` takes; other texts unchanged. */
export function canonicalId(text: string): string {
  const digits = text.toLowerCase().replace(/^urn:|uuid:|[{}-]/g, '');
  if (!/^[0-9a-f]{32}$/.test(digits)) return text;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
