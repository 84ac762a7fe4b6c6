/** The accounts in a data folder, through the routes that a server has for them. */
import { RoutesApi } from '../../lab/state/routes-api.ts';
import { Accounts } from '../../src/people/accounts.ts';
import { peopleRoutes } from '../../src/people/routes/people-routes.ts';
import { PeopleStore, StoreBroken } from '../../src/people/store.ts';
import { CliUsageError } from '../command.ts';
import type { AccountsApi } from './accounts-place.ts';
import type { DataFolder } from './data-folder.ts';

export class OfflineAccounts {
  readonly accounts: Accounts;
  readonly api: AccountsApi;

  private constructor(accounts: Accounts) {
    this.accounts = accounts;
    // Entries of the ACL are checked against all routes of a server: they are set where one runs.
    this.api = new RoutesApi(peopleRoutes(accounts, { routes: () => [], projects: async () => [], templates: () => [] }));
  }

  /** @throws CliUsageError for a store that cannot be read */
  static async open({ folder, configured }: DataFolder): Promise<OfflineAccounts> {
    const store = await PeopleStore.open(folder).catch((error: Error) => {
      if (!(error instanceof StoreBroken)) throw error;
      throw new CliUsageError(
        `${error.message}. Continue with what can be read, and keep a copy: patchbay user repair --data-dir ${folder}`,
      );
    });
    return new OfflineAccounts(await Accounts.open(store, configured ? { configured } : {}));
  }

  close(): Promise<void> {
    return this.accounts.store.close();
  }
}
