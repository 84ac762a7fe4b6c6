/** A router's configurations: files of its node's folder, read into the NVRAM at the start and saved from there. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import type { Hypervisor } from './hypervisor.ts';

/** In the node's folder. GNS3 has the router's number in these names; a node's folder is its own here. */
export const configFiles = { startup: 'configs/startup-config.cfg', private: 'configs/private-config.cfg' } as const;

/** Those that exist and are not empty. */
export async function presentConfigs(directory: string): Promise<{ startupConfig?: string; privateConfig?: string }> {
  const size = async (file: string) => (await stat(join(directory, file)).catch(() => undefined))?.size ?? 0;
  const [startup, private_] = await Promise.all([size(configFiles.startup), size(configFiles.private)]);
  return {
    ...(startup > 0 && { startupConfig: configFiles.startup }),
    ...(private_ > 0 && { privateConfig: configFiles.private }),
  };
}

/**
 * The two configurations in the NVRAM. The answer ends in two words of base64, each in quotes or not; the second is missing when there is no
 * private one. A router that saved nothing yet has none.
 */
export async function extractConfigs(
  hypervisor: Hypervisor,
  router: string,
): Promise<{ startup: string; private: string } | undefined> {
  const answer = await hypervisor.ask('vm', 'extract_config', router).catch(() => undefined);
  const [, startup = '', private_ = ''] =
    /^conf '.*' '?([A-Za-z0-9+/=]*)'?(?: '?([A-Za-z0-9+/=]*)'?)?$/.exec(answer?.text ?? '') ?? [];
  return answer && { startup: decode(startup), private: decode(private_) };
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8').replaceAll('\r', '');
}

/** Writes what the NVRAM has and the files do not. An empty configuration never replaces one. */
export async function saveConfigs(hypervisor: Hypervisor, router: string, directory: string): Promise<void> {
  const found = await extractConfigs(hypervisor, router);
  if (!found) return;
  for (const name of ['startup', 'private'] as const) {
    const path = join(directory, configFiles[name]);
    const text = found[name];
    if (text.trim() === '' || text === (await readText(path))) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(path, text);
  }
}

async function readText(path: string): Promise<string | undefined> {
  return readRegularFile(path).then(String, () => undefined);
}
