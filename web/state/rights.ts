/** Rights of the signed-in account, read once for the paths that the page shows, and again when the server announces a change. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { Privilege } from '../../src/schema/privilege.ts';
import type { Api } from '../api.ts';

export interface SignedInAccount {
  readonly username: string;
  readonly is_superadmin: boolean;
  readonly is_administrator: boolean;
}

interface OwnRights extends SignedInAccount {
  readonly rights: readonly {
    readonly path: string;
    readonly privileges: readonly Privilege[];
    readonly below: readonly Privilege[];
  }[];
}

/** Parts of the administration: the privilege to read each, and its path. */
export const administration = {
  users: ['User.Audit', '/access/users'],
  groups: ['Group.Audit', '/access/groups'],
  roles: ['Role.Audit', '/access/roles'],
  entries: ['ACE.Audit', '/access/acl'],
  pools: ['Pool.Audit', '/pools'],
} as const;
/** Paths of which every view has commands. */
const commonPaths = ['/projects', ...Object.values(administration).map(([, path]) => path)];

export class Rights {
  /** Undefined without a login: the server then decides alone. */
  readonly account: ReadonlySignal<SignedInAccount | undefined>;
  /** This browser signed in on the login page, and can sign out. */
  readonly signedIn = signal(false);
  /** Counts announced changes. */
  readonly changes = signal(0);
  readonly #account = signal<SignedInAccount | undefined>(undefined);
  readonly #rights = signal<ReadonlyMap<string, OwnRights['rights'][number]>>(new Map());
  readonly #api: Api;
  /** Path of the open project. */
  #project: string | undefined;
  #readings = 0;

  constructor(api: Api) {
    this.#api = api;
    this.account = this.#account;
  }

  /** Reads the rights of a browser that signed in. Another server may not have this route: then nothing is known. */
  async read(signedIn = this.signedIn.peek()): Promise<void> {
    const paths = [...commonPaths, ...(this.#project === undefined ? [] : [this.#project])];
    this.#readings += 1;
    const reading = this.#readings;
    const own = signedIn
      ? await this.#api.get<OwnRights>(`/v3/access/users/me/rights?paths=${paths.join(',')}`).catch(() => undefined)
      : undefined;
    // The answer of a reading that a later one overtook is older than what is shown.
    if (reading !== this.#readings) return;
    this.#rights.value = new Map(own?.rights.map((right) => [right.path, right]));
    this.#account.value = own;
    this.signedIn.value = signedIn;
  }

  /** Reads the rights on a project, too, from now on. */
  async show(projectId: string | undefined): Promise<void> {
    this.#project = projectId === undefined ? undefined : `/projects/${projectId}`;
    if (this.#project !== undefined && this.#account.peek()) await this.read();
  }

  /** Whether the account may read users, groups, roles, entries or pools. */
  get mayAdminister(): boolean {
    return this.account.value !== undefined && Object.values(administration).some(([privilege, path]) => this.may(privilege, path));
  }

  /** Whether the account has a privilege on a path or on something below; true where that is not known. */
  may(privilege: Privilege, path: string): boolean {
    const known = this.#rights.value.get(path);
    return known === undefined || known.privileges.includes(privilege) || known.below.includes(privilege);
  }

  /** Whether the account may create projects. */
  get mayCreate(): boolean {
    return this.#rights.value.get('/projects')?.privileges.includes('Project.Allocate') ?? true;
  }
}
