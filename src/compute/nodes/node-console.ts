/** Rules for a node's console and for requests of its port, independent of the node's lifecycle. */
import { fault } from '../../api/faults.ts';
import type { ConsoleType, NodeStatus } from '../../schema/node.ts';
import type { Ports } from '../host/ports.ts';

interface ConsoleState {
  readonly type: ConsoleType;
  readonly port: number | null;
}
export interface ConsoleChange {
  readonly console?: number | null;
  readonly console_type?: ConsoleType;
}

/**
 * Takes what the change needs; the caller gives the old or the new port back, depending on how it ends. A wanted port that is
 * taken or out of range is not given: a node keeps the port that it has, and gets another one if it has none. `null` switches the console
 * off until a port is asked for again; a new type brings a new port; a port for a node without console is ignored.
 */
export async function nextConsole(ports: Ports, current: ConsoleState, change: ConsoleChange): Promise<ConsoleState> {
  const type = change.console_type ?? current.type;
  if (type !== current.type) return { type, port: await ports.takeConsole(type, change.console) };
  if (change.console === undefined || change.console === current.port || type === 'none') return current;
  if (change.console === null) return { type, port: null };
  const port = await ports.takeConsole(type, change.console);
  if (port === change.console || current.port === null) return { type, port };
  ports.releaseConsole(port);
  return current;
}

/** A console of a started node. @throws node_console; `whyNone`: why a started one has none */
export function servedBy<T>({ name, status }: { name: string; status: NodeStatus }, console: T | undefined, whyNone: string): T {
  if (console && status === 'started') return console;
  throw fault('node_console', { name, reason: status === 'started' ? whyNone : `it is ${status}` });
}
