/**
 * Whether a PC that was just started sends frames. The thread of vpcs that sends reads the number of its PC late on a busy host, when the main
 * thread has counted on: it then waits for the frames of a PC that there is not, for good. Such a PC receives, and never sends.
 *
 * It is found out on the fabric's port of its link, before the fabric opens that. vpcs solicits routers as soon as it runs; should that be
 * lost, it answers an echo request to its link-local address, whatever addresses its script gives it.
 */
import { createSocket } from 'node:dgram';

const limitMs = 3000;
/** Between echo requests: at first, and later. */
const pauseMs = { first: 10, longest: 200 };

export interface StartedPc {
  /** UDP, on the loopback: where frames are sent to it, and where it sends its own. */
  readonly ports: { readonly local: number; readonly fabric: number };
  /** Last byte of its MAC address. */
  readonly macId: number;
  /** Settles when its process has ended. */
  readonly ended: Promise<unknown>;
}

/** False when it runs and no frame comes within 3 s. True also when that cannot be known, as its process has ended or the port is taken. */
export async function sendsFrames({ ports, macId, ended }: StartedPc): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createSocket('udp4');
  const request = echoRequest(macId);
  const timers: { limit?: NodeJS.Timeout; next?: NodeJS.Timeout } = {};
  const send = (ms: number) => {
    socket.send(request, ports.local, '127.0.0.1');
    timers.next = setTimeout(send, ms, Math.min(ms * 2, pauseMs.longest));
  };
  socket.on('message', () => resolve(true));
  socket.on('error', () => resolve(true));
  socket.bind({ port: ports.fabric, address: '127.0.0.1', exclusive: true }, () => {
    timers.limit = setTimeout(resolve, limitMs, false);
    send(pauseMs.first);
  });
  void ended.then(() => resolve(true));
  try {
    return await promise;
  } finally {
    clearTimeout(timers.limit);
    clearTimeout(timers.next);
    await new Promise<void>((done) => socket.close(done));
  }
}

/** ICMPv6 (RFC 4443, 4.1) to the address that the PC makes of its MAC address (RFC 4291, appendix A), from a locally administered one. */
function echoRequest(macId: number): Buffer {
  const linkLocal = [0xfe, 0x80, 0, 0, 0, 0, 0, 0];
  const to = { mac: [0x00, 0x50, 0x79, 0x66, 0x68, macId], ip: [...linkLocal, 0x02, 0x50, 0x79, 0xff, 0xfe, 0x66, 0x68, macId] };
  const from = { mac: [0x02, 0, 0, 0, 0, 1], ip: [...linkLocal, 0, 0, 0, 0, 0, 0, 0, 1] };
  const message = Buffer.from([128, 0, 0, 0, 0, 1, 0, 1]);
  const addresses = [...from.ip, ...to.ip];
  message.writeUInt16BE(checksum(Buffer.from([...addresses, 0, 0, 0, message.length, 0, 0, 0, 58, ...message])), 2);
  return Buffer.from([...to.mac, ...from.mac, 0x86, 0xdd, 0x60, 0, 0, 0, 0, message.length, 58, 255, ...addresses, ...message]);
}

/** Of the Internet protocols (RFC 1071), over an even number of bytes. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
