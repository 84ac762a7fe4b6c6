/**
 * `/etc/network/interfaces` of a container that has none yet: clients offer it for editing before the first start. It is older than any
 * file, so that the image's own takes its place when the container starts for the first time; what was edited is newer, and stays.
 */
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @see interfaces(5) */
export async function writeInterfacesSample(directory: string, adapters: number): Promise<void> {
  const folder = join(directory, 'etc/network');
  const path = join(folder, 'interfaces');
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(path, interfacesSample(adapters), { flag: 'wx' });
    await utimes(path, 0, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function interfacesSample(adapters: number): string {
  const stanzas = Array.from({ length: adapters }, (_, adapter) => [
    '',
    `# A fixed address of eth${adapter}`,
    `#auto eth${adapter}`,
    `#iface eth${adapter} inet static`,
    `#\taddress 192.168.${adapter}.2`,
    '#\tnetmask 255.255.255.0',
    `#\tgateway 192.168.${adapter}.1`,
    '',
    `# Or one that DHCP gives to eth${adapter}`,
    `#auto eth${adapter}`,
    `#iface eth${adapter} inet dhcp`,
  ]);
  const head = '# The network of this node, read at each start. Take away the # from the lines that should count.';
  return `${[head, ...stanzas.flat()].join('\n')}\n`;
}
