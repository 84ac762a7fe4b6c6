/** Reaches accounts: those of a server over HTTP, or those in the data folder of a server that does not run. */
import type { LabApi } from '../../lab/state/lab-api.ts';
import { type CliCall, CliUsageError, serverOptions, textOption } from '../command.ts';
import type { DataFolder } from './data-folder.ts';
import type { OfflineAccounts } from './offline-accounts.ts';

/** Calls routes below `/v3/access`. */
export type AccountsApi = Pick<LabApi, 'json'>;

/** Options of commands that also work without a server. */
export const placeOptions = {
  'data-dir': {
    value: 'FOLDER',
    isFile: true,
    description: 'Without a server: the accounts of this data folder, which no server may use meanwhile',
  },
  config: { value: 'FILE', isFile: true, description: 'With --data-dir: the configuration of its server' },
  ...serverOptions,
} as const;

/** Runs a command on the accounts of the server, or with `--data-dir` on those of a data folder. */
export async function withAccounts(call: CliCall, run: (api: AccountsApi) => Promise<number>): Promise<number> {
  if (textOption(call, 'data-dir') !== undefined) return withStoredAccounts(call, ({ api }) => run(api));
  if (textOption(call, 'config') !== undefined) throw new CliUsageError('--config belongs to --data-dir');
  return run(call.api);
}

/** Runs a command on the accounts of the data folder. @throws CliUsageError without `--data-dir` */
export function withStoredAccounts(call: CliCall, run: (accounts: OfflineAccounts) => Promise<number>): Promise<number> {
  return inDataFolder(call, async (place) => {
    const { OfflineAccounts } = await import('./offline-accounts.ts');
    const accounts = await OfflineAccounts.open(place);
    try {
      return await run(accounts);
    } finally {
      await accounts.close();
    }
  });
}

/** Runs a command in the data folder while no server uses it. @throws CliUsageError without `--data-dir` */
export async function inDataFolder(call: CliCall, run: (place: DataFolder) => Promise<number>): Promise<number> {
  const folder = textOption(call, 'data-dir');
  if (folder === undefined) throw new CliUsageError('this works while no server runs: name its folder with --data-dir FOLDER');
  // The modules of the store are not loaded by commands that ask a server.
  const { openDataFolder } = await import('./data-folder.ts');
  const place = await openDataFolder(folder, textOption(call, 'config'));
  try {
    return await run(place);
  } finally {
    await place.lock.release();
  }
}
