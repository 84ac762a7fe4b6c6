/** The command line and the NETMAP of an IOU image, from plain facts. Sources: README.md beside this file. */
import { portsPerAdapter } from './kind.ts';
import type { IouProperties } from './properties.ts';

/** Number of adapters of each type that an image has without `-e` and `-s`. */
const defaultAdapters = 2;
/** An IOU of its own id stands behind each port, so that each has a socket. Ids are 1 to 1024, and those of nodes end below. */
const firstPeer = 513;
/** Bays, and ports of each, that an id has. */
const bays = 16;

export function iouArguments(properties: IouProperties): string[] {
  const { application_id, ethernet_adapters, serial_adapters, nvram, ram, l1_keepalives, use_default_iou_values } = properties;
  return [
    ...(ethernet_adapters === defaultAdapters ? [] : ['-e', String(ethernet_adapters)]),
    ...(serial_adapters === defaultAdapters ? [] : ['-s', String(serial_adapters)]),
    ...(use_default_iou_values ? [] : ['-n', String(nvram), '-m', String(ram)]),
    ...(l1_keepalives ? ['-l'] : []),
    String(application_id),
  ];
}

/** Ports of the adapters: Ethernet adapters first, then serial ones. */
export function hasPort({ ethernet_adapters, serial_adapters }: IouProperties, adapter: number, port: number): boolean {
  return adapter < ethernet_adapters + serial_adapters && port < portsPerAdapter;
}

export const mostBays = bays;

/** The id of the other end of a port. */
export function peerOf(adapter: number, port: number): number {
  return firstPeer + adapter * portsPerAdapter + port;
}

/** Every port has a peer of its own, whose only port is 0/0. */
export function netmap({ application_id }: Pick<IouProperties, 'application_id'>): string {
  const lines: string[] = [];
  for (let bay = 0; bay < bays; bay++)
    for (let unit = 0; unit < portsPerAdapter; unit++) lines.push(`${peerOf(bay, unit)}:0/0 ${application_id}:${bay}/${unit}\n`);
  return lines.join('');
}

/** Header of a frame to a port: ids of receiver and sender, big-endian, their ports (bay and 16 times unit), type 1 (data), channel 0. */
export function frameHeader(application_id: number, adapter: number, port: number): string {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(application_id, 0);
  header.writeUInt16BE(peerOf(adapter, port), 2);
  header.writeUInt8(adapter + 16 * port, 4);
  header.writeUInt8(0, 5);
  header.writeUInt8(1, 6);
  return header.toString('hex');
}
