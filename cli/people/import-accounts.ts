/** Prints and makes the import of a GNS3 3 server's accounts. */
import type { Accounts } from '../../src/people/accounts.ts';
import { planImport } from '../../src/people/import/plan-import.ts';
import { readGns3Accounts } from '../../src/people/import/read-gns3.ts';
import { ImportRefused } from '../../src/people/import/sqlite-rows.ts';
import { now } from '../../src/people/records.ts';
import { type CliOutput, CliUsageError } from '../command.ts';

interface AccountImport {
  readonly file: string;
  readonly isDryRun: boolean;
  readonly out: CliOutput;
}

/** Prints the plan of an import, then makes all of it in one write. @throws CliUsageError */
export async function importAccounts(accounts: Accounts, { file, isDryRun, out }: AccountImport): Promise<void> {
  const { store } = accounts;
  try {
    const plan = await planImport(await readGns3Accounts(file), { store, users: accounts.listUsers(), at: now() });
    const { lines, administrators, records } = plan;
    if (!out.isJson) {
      out.table(
        ['KIND', 'NAME', 'ACTION', 'NOTE'],
        lines.map(({ kind, name, action, note }) => [kind, name, action, note]),
      );
      if (administrators.length > 0) out.print(`Super admins by this import: ${administrators.join(', ')}`);
    }
    if (!isDryRun) await store.putAll(records);
    if (out.isJson) out.json({ lines, administrators, written: isDryRun ? 0 : records.size });
    else out.print(isDryRun ? 'Nothing was changed: leave out --dry-run to import' : `${records.size} records were written`);
  } catch (error) {
    throw error instanceof ImportRefused ? new CliUsageError(error.message) : error;
  }
}
