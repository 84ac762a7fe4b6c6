import { join } from 'node:path';
import type { NodeView } from '../driver.ts';

/** Names of the sockets and files in the runtime folder. */
export function placesOf(node: Pick<NodeView, 'directory' | 'runtimeDirectory'>) {
  const { directory, runtimeDirectory } = node;
  return {
    qmp: join(runtimeDirectory, 'qmp'),
    serial: join(runtimeDirectory, 'ser0'),
    screen: join(runtimeDirectory, 'screen'),
    pidFile: join(runtimeDirectory, 'pid'),
    adapter: (index: number) => join(runtimeDirectory, `n${index}`),
    consoleLog: join(directory, 'console.log'),
    log: join(directory, 'qemu.log'),
  };
}
