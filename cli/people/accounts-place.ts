/** Reaches accounts: those of a server over HTTP, or those in the data folder of a server that does not run. */
import type { LabApi } from '../../lab/state/lab-api.ts';
import { type CliCall, CliUsageError, serverOptions, textOption } from '../command.ts';

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
  const folder = textOption(call, 'data-dir');
  const config = textOption(call, 'config');
  if (folder === undefined) {
    if (config !== undefined) throw new CliUsageError('--config belongs to --data-dir');
    return run(call.api);
  }
  // The modules of the store are not loaded by commands that ask a server.
  const { openDataFolder } = await import('./data-folder.ts');
  const { OfflineAccounts } = await import('./offline-accounts.ts');
  const place = await openDataFolder(folder, config);
  try {
    const accounts = await OfflineAccounts.open(place);
    try {
      return await run(accounts.api);
    } finally {
      await accounts.close();
    }
  } finally {
    await place.lock.release();
  }
}
