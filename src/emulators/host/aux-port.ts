/** Gives a node the TCP port of its auxiliary console. */
import { unmetWish } from '../../schema/unmet-wish.ts';
import type { NodeView } from '../driver.ts';
import type { Host } from './host.ts';

interface WishForAux {
  /** Port that a client has set. */
  readonly wanted: number | null;
  /** Port of the run before, which is kept where it is free. */
  readonly last?: number | null | undefined;
}

/** Returns the wanted port, the last one or another; undefined when none is left. Clients are warned where the wanted one is not given. */
export async function takeAuxPort(
  { tcpPorts }: Pick<Host, 'tcpPorts'>,
  { name, warn }: Pick<NodeView, 'name' | 'warn'>,
  { wanted, last }: WishForAux,
): Promise<number | undefined> {
  const port = await tcpPorts.take(wanted ?? last);
  if (wanted !== null && port !== undefined && port !== wanted) warn(unmetWish(name, 'auxiliary console port', wanted, port));
  return port;
}
