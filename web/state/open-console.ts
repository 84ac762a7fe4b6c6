/** Opens a node's console in the page, if the page supports its type. */
import type { Node } from '../../src/schema/node.ts';
import { texts } from '../texts.ts';
import type { App } from './app.ts';

const shownHere: readonly (string | null)[] = ['telnet', 'vnc'];

export function hasConsole({ console_type }: Node): boolean {
  return console_type !== null && console_type !== 'none';
}

export function openConsole(app: App, node: Node): void {
  const { console_type, console_host, console: port } = node;
  if (shownHere.includes(console_type)) {
    app.consoles.open(node.node_id);
    return;
  }
  if ((console_type === 'http' || console_type === 'https') && port !== null) {
    const host = /^(0\.0\.0\.0|::)$/.test(console_host) ? location.hostname : console_host;
    open(`${console_type}://${host}:${port}/`, '_blank', 'noopener');
    return;
  }
  app.toasts.show('info', texts.consoleElsewhere(node.name, console_type ?? 'none', `${console_host}:${port}`));
}
