/** Finds the user whose process is at the other end of a local TCP connection. Linux only. */
import { readFile, readlink } from 'node:fs/promises';
import { isIPv4, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { SharedRead } from './shared-read.ts';

const table = (family: string) => new SharedRead(() => readFile(`/proc/net/${family}`, 'latin1').catch(() => ''));
/** The kernel takes 5 to 20 ms for each read, so a thousand clients at once must not cause a thousand. */
const tables = { tcp: table('tcp'), tcp6: table('tcp6') };

interface TcpEnd {
  readonly address: string;
  readonly port: number;
}

/** ESTABLISHED, and FIN_WAIT1 and FIN_WAIT2 of a peer that only reads. */
const peerStates = new Set(['01', '04', '05']);
/** ESTABLISHED and CLOSE_WAIT. */
const ownStates = new Set(['01', '08']);

/**
 * Returns the user id that owns the other end of `socket`, an accepted connection; undefined when that cannot be proved: the peer
 * is on another machine, or has closed. The kernel shows ends without a process (TIME_WAIT, and FIN_WAIT after `close`) as root's.
 * The table is read twice, each time after this call; calls that come meanwhile share a read, which takes time proportional to this
 * machine's connections. As `socket` is still connected at the second read, no other connection had its addresses at the first.
 * @see proc(5), /proc/net/tcp
 */
export async function peerUser(socket: Socket): Promise<number | undefined> {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  if (localAddress === undefined || localPort === undefined || remoteAddress === undefined || remotePort === undefined)
    return undefined;
  const own = { address: localAddress, port: localPort };
  const peer = { address: remoteAddress, port: remotePort };
  // The peer of an IPv6 socket may be an IPv4 socket.
  const found = (await rowOf(plain(peer), plain(own))) ?? (await rowOf(peer, own));
  // An end without a process has no inode.
  if (!found || found.inode === '0' || !peerStates.has(found.state)) return undefined;
  const mine = await rowOf(own, peer);
  if (!mine || !ownStates.has(mine.state) || mine.inode !== (await inodeOf(socket))) return undefined;
  return found.uid;
}

interface ConnectionRow {
  /** TCP state, two hexadecimal digits. */
  readonly state: string;
  readonly uid: number;
  readonly inode: string;
}

async function rowOf(end: TcpEnd, other: TcpEnd): Promise<ConnectionRow | undefined> {
  const ends = `${tableEnd(end)} ${tableEnd(other)} `;
  const text = await tables[isIPv4(end.address) ? 'tcp' : 'tcp6'].latest();
  const at = text.indexOf(ends);
  if (at < 0) return undefined;
  // state queues timer retransmits uid timeout inode
  const [state = '', , , , uid, , inode = '0'] = text.slice(at + ends.length, text.indexOf('\n', at)).split(/\s+/);
  return { state, uid: Number(uid), inode };
}

/** Returns a socket's inode; undefined once it is closed. Node has no public access to a socket's descriptor. */
async function inodeOf(socket: Socket): Promise<string | undefined> {
  const { _handle } = socket as Socket & { _handle?: { fd?: number } | null };
  const link = await readlink(`/proc/self/fd/${_handle?.fd ?? -1}`).catch(() => '');
  return /^socket:\[(\d+)\]$/.exec(link)?.[1];
}

/** Formats an address like the table: 32-bit words in the machine's byte order, hexadecimal. */
function tableEnd({ address, port }: TcpEnd): string {
  const bytes = addressBytes(address);
  const words = endianness() === 'LE' ? bytes.swap32() : bytes;
  return `${words.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

const mapped = /^::ffff:(?=\d+\.)/;

/** Removes the prefix of an IPv4 address that is mapped into IPv6. */
function plain({ address, port }: TcpEnd): TcpEnd {
  return { address: address.replace(mapped, ''), port };
}

function addressBytes(address: string): Buffer {
  const v4 = address.replace(mapped, '');
  if (isIPv4(v4)) return Buffer.from([...(v4 === address ? [] : mappedPrefix), ...v4.split('.').map(Number)]);
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

const mappedPrefix = [...Array<number>(10).fill(0), 0xff, 0xff];
