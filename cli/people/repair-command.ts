/** `patchbay user repair`: an account store that cannot be read as a whole keeps its server shut. */
import type { CliCommand } from '../command.ts';
import { inDataFolder, placeOptions } from './accounts-place.ts';

export const repairCommand: CliCommand = {
  name: 'user repair',
  args: '',
  isLocal: true,
  summary: 'Continue with the readable records of a damaged account store; the damaged file is kept',
  options: { 'data-dir': placeOptions['data-dir'], config: placeOptions.config, json: placeOptions.json },
  examples: [
    { line: 'patchbay user repair --data-dir ~/networks', does: 'When the server does not start because of its accounts' },
  ],
  run: (call) =>
    inDataFolder(call, async ({ folder }) => {
      const { repairStore } = await import('../../src/people/repair.ts');
      const repair = await repairStore(folder);
      if (call.out.isJson) call.out.json(repair ?? null);
      else if (!repair) call.out.print('The account store is readable: nothing was changed');
      else {
        call.out.print(`${repair.kept} records are kept; the file with all that was there is ${repair.aside}`);
        call.out.print(
          `${repair.lost} could not be read. One of them may be an entry that refuses something: compare patchbay acl list with a backup before others log in`,
        );
      }
      return 0;
    }),
};
