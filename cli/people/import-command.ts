/** `patchbay user import`: reads accounts, groups, roles, rights and pools out of a GNS3 3 server's database. */
import { type CliCommand, CliUsageError } from '../command.ts';
import { placeOptions, withStoredAccounts } from './accounts-place.ts';

export const importAccountsCommand: CliCommand = {
  name: 'user import',
  args: 'FILE',
  takesFiles: true,
  isLocal: true,
  summary:
    'Import users, groups, roles, rights and pools of a GNS3 3 server from its database, while no server runs on the data folder',
  options: {
    'data-dir': placeOptions['data-dir'],
    config: placeOptions.config,
    'dry-run': { description: 'Print the plan, and change nothing' },
    json: placeOptions.json,
  },
  examples: [
    {
      line: 'patchbay user import gns3_controller.db --data-dir ~/networks --dry-run',
      does: 'What would be made, who becomes administrator, and what is left out',
    },
  ],
  run: (call) => {
    const { args, out, options } = call;
    const [file] = args;
    if (file === undefined || args.length > 1) throw new CliUsageError('which file? patchbay user import FILE --data-dir FOLDER');
    return withStoredAccounts(call, async ({ accounts }) => {
      const { importAccounts } = await import('./import-accounts.ts');
      await importAccounts(accounts, { file, isDryRun: options['dry-run'] === true, out });
      return 0;
    });
  },
};
