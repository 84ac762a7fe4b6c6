/** Messages for a client that may not have a console, in the protocol of that console. */
import type { ConsoleType } from '../../schema/node.ts';

const words =
  'This server asks for credentials: open the console in its page or by `patchbay lab console`, or, with console_ports on, have your user added to console_users in [Server].';

/** Empty where the protocol cannot say it before the client has spoken. */
export function refusalOf(type: ConsoleType): string | Uint8Array {
  if (type === 'telnet') return `${words}\r\n`;
  if (type === 'vnc') return rfbFailure();
  if (type === 'http') return `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${words}\n`;
  return '';
}

/** The version, no security types, and the reason. @see RFC 6143, sections 7.1.1 and 7.1.2 */
function rfbFailure(): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(words.length);
  return Buffer.concat([Buffer.from('RFB 003.008\n\0', 'latin1'), length, Buffer.from(words, 'latin1')]);
}
