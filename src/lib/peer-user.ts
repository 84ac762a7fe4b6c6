/** Whose process is at the other end of a TCP connection from this machine. Linux only. */
import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { endianness } from 'node:os';

export interface TcpEnd {
  readonly address: string;
  readonly port: number;
}

/**
 * The user id of the socket that is bound to `peer` and connected to `own`; undefined when it has closed, or is not on this machine. Reads
 * the kernel's table, whose length is the number of connections.
 * @see proc(5), /proc/net/tcp
 */
export async function peerUser(own: TcpEnd, peer: TcpEnd): Promise<number | undefined> {
  const ends = `${tableEnd(peer)} ${tableEnd(own)}`;
  const family = isIPv4(plain(peer.address)) ? 'tcp' : 'tcp6';
  const text = await readFile(`/proc/net/${family}`, 'latin1').catch(() => '');
  const row = text.split('\n').find((line) => line.includes(ends));
  // sl local remote state queues timer retransmits uid
  const uid = row?.trim().split(/\s+/)[7];
  return uid === undefined ? undefined : Number(uid);
}

/** As the table has it: words of 32 bits as this machine stores them, in hexadecimal. */
function tableEnd({ address, port }: TcpEnd): string {
  const bytes = addressBytes(plain(address));
  const words = endianness() === 'LE' ? bytes.swap32() : bytes;
  return `${words.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

/** Of an IPv4 client on an IPv6 socket. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
