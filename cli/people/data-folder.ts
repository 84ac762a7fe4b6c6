/** Takes the data folder of a server that does not run. */
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type InstanceLock, lockInstance } from '../../src/lib/instance-lock.ts';
import { readSettings } from '../../src/settings.ts';
import { CliUsageError } from '../command.ts';

export interface DataFolder {
  readonly folder: string;
  /** Keeps a server out until it is released. */
  readonly lock: InstanceLock;
  /** The user of the configuration, where it requires logins. */
  readonly configured?: { readonly user: string; readonly password: string };
}

/** Locks the folder and reads the configuration. @throws CliUsageError when a server uses it, or another user owns it */
export async function openDataFolder(given: string, configFile: string | undefined): Promise<DataFolder> {
  const folder = resolve(given);
  const { Server } = await readSettings({ dataDirectory: folder, ...(configFile !== undefined && { configFile }) }).catch(
    (error: Error) => {
      throw new CliUsageError(error.message);
    },
  );
  await requireOwn(folder);
  const lock = await lockInstance(await realpath(folder));
  if (typeof lock === 'number') {
    const holder = lock > 0 ? `process ${lock}` : 'another process';
    throw new CliUsageError(
      `The data folder ${folder} is in use by ${holder}. Ask its server, without --data-dir, or end it for this command`,
    );
  }
  const { auth, user, password } = Server;
  return { folder, lock, ...(auth && { configured: { user: user.trim(), password: password.trim() } }) };
}

/** Refuses the folder of another user: files that root made there could not be read by its server. */
async function requireOwn(folder: string): Promise<void> {
  const { uid } = await stat(folder).catch((error: Error) => {
    throw new CliUsageError(`The data folder ${folder} cannot be used: ${error.message}`);
  });
  if (uid !== process.getuid?.())
    throw new CliUsageError(`The data folder ${folder} belongs to the user with id ${uid}: run this command as that user`);
}
