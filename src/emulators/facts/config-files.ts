/** Configurations of routers, as text files in a node's folder: written when the node is made, and following its name. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { NotAFile, readRegularFile } from '../../lib/regular-file.ts';
import { nullable } from '../../schema/common.ts';
import { Type } from '../../schema/type.ts';

/** Limit of a whole file's content, in characters. */
const maxConfigLength = 1_048_576;
/** A larger file is none that was written from a request. */
const maxConfigBytes = 4 * maxConfigLength;
const Content = (what: string) => Type.Optional(nullable(Type.String({ maxLength: maxConfigLength, description: what })));

/** Keys of a creation request that carry them. */
export const configContents = {
  private_config_content: Content('The private configuration; %h stands for the name'),
  startup_config_content: Content('The startup configuration; %h stands for the name'),
};

/** Writes one that was given and is not empty, unless the file is there. */
export async function writeConfig(path: string, content: unknown, name: string): Promise<void> {
  if (typeof content !== 'string' || content === '') return;
  await mkdir(dirname(path), { recursive: true });
  const text = content.replaceAll('\r', '').replaceAll('%h', () => name);
  await writeFile(path, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** The node has another name: lines that set the host name follow. */
export async function renameInConfigs(directory: string, files: readonly string[], name: string): Promise<void> {
  for (const file of files) {
    const path = join(directory, file);
    const bytes = await readRegularFile(path, maxConfigBytes, { noFollow: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error instanceof NotAFile || error instanceof RangeError) return undefined;
      throw error;
    });
    const text = bytes?.toString('utf8');
    const renamed = text?.replace(/^hostname .*$/gm, () => `hostname ${name}`);
    if (renamed !== undefined && renamed !== text) await writeFileAtomic(path, renamed);
  }
}
