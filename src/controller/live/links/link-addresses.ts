/** Finds the addresses at which two computes reach each other. */
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { fault } from '../../../api/faults.ts';
import { ownHosts, type RegisteredCompute } from '../../computes/compute.ts';
import type { Two } from './link.ts';

interface NetworkInterface {
  readonly ip_address: string;
  readonly netmask: string;
}

const loopback = '127.0.0.1';

/** Address of each compute as the other one reaches it. @throws `link_no_common_network` */
export async function linkAddresses(one: RegisteredCompute, other: RegisteredCompute): Promise<Two<string>> {
  if (one === other) return [loopback, loopback];
  const [isOneHere, isOtherHere] = [one.isHere, other.isHere];
  // A compute that is reached through the loopback interface is on this machine.
  if (isOneHere && isOtherHere) return [loopback, loopback];
  if (!isOneHere && !isOtherHere) return Promise.all([resolved(one.record.host), resolved(other.record.host)]);
  const common = await commonNetwork(one, other);
  if (common) return common;
  const away = await resolved((isOneHere ? other : one).record.host);
  const here = await ownAddressTowards(away);
  if (here === undefined) throw fault('link_no_common_network', { one: one.record.name, other: other.record.name });
  return isOneHere ? [here, away] : [away, here];
}

/** Returns the address of this host at which a remote compute reaches it. */
export async function addressTowards(compute: RegisteredCompute): Promise<string> {
  return (compute.isHere ? undefined : await ownAddressTowards(await resolved(compute.record.host))) ?? loopback;
}

/** The address of a name as it is known here; a name that is not is left to the compute. */
async function resolved(host: string): Promise<string> {
  return lookup(host, { family: 4 }).then(
    ({ address }) => address,
    () => host,
  );
}

async function commonNetwork(one: RegisteredCompute, other: RegisteredCompute): Promise<Two<string> | undefined> {
  const [ofOne, ofOther] = await Promise.all([interfacesOf(one), interfacesOf(other)]);
  for (const a of ofOne) {
    const b = ofOther.find((candidate) => a.ip_address !== candidate.ip_address && overlap(a, candidate));
    if (b) return [a.ip_address, b.ip_address];
  }
  return undefined;
}

/** The compute's own address first. */
async function interfacesOf(compute: RegisteredCompute): Promise<NetworkInterface[]> {
  const interfaces = await compute.transport.call('GET /v2/compute/network/interfaces');
  const usable = interfaces.filter(
    ({ ip_address, netmask }) => ip_address !== '' && netmask !== '' && !ip_address.startsWith('169.254.'),
  );
  const isOwn = ({ ip_address }: NetworkInterface) => Number(ip_address !== compute.record.host);
  return usable.filter(({ ip_address }) => !ownHosts.test(ip_address)).sort((a, b) => isOwn(a) - isOwn(b));
}

function overlap(a: NetworkInterface, b: NetworkInterface): boolean {
  const mask = Math.min(number(a.netmask), number(b.netmask));
  return (number(a.ip_address) & mask) === (number(b.ip_address) & mask);
}

function number(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Finds the address from which this machine sends to one behind routers. Nothing is sent for it. */
async function ownAddressTowards(address: string): Promise<string | undefined> {
  const socket = createSocket('udp4');
  try {
    // Any port does: a datagram socket only looks for the way.
    socket.connect(9, address);
    await once(socket, 'connect');
    const own = socket.address().address;
    return own.startsWith('127.') ? undefined : own;
  } catch {
    return undefined;
  } finally {
    socket.close();
  }
}
