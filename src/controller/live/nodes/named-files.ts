/** Properties that name a file in the configs folder: its content is sent in place of the name, once, when the node is made. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

const contentOf: Readonly<Record<string, string>> = {
  base_script_file: 'startup_script',
  private_config: 'private_config_content',
  startup_config: 'startup_config_content',
};

export interface NamedFiles {
  /** The properties without the names. */
  readonly properties: Record<string, unknown>;
  readonly contents: Record<string, unknown>;
}

/** A file that is not there is one of the kind's own, or left out. */
export async function readNamedFiles(
  given: Readonly<Record<string, unknown>>,
  configsPath: string,
  baseFiles: Readonly<Record<string, string>> = {},
): Promise<NamedFiles> {
  const properties = { ...given };
  const contents: Record<string, unknown> = {};
  for (const [property, content] of Object.entries(contentOf)) {
    const name = properties[property];
    if (typeof name !== 'string') continue;
    delete properties[property];
    // Only the name counts: a path must not point outside the folder.
    const file = basename(name);
    const text = await readFile(join(configsPath, file), 'utf8').catch(() =>
      Object.hasOwn(baseFiles, file) ? baseFiles[file] : undefined,
    );
    if (text !== undefined) contents[content] = text;
  }
  return { properties, contents };
}
