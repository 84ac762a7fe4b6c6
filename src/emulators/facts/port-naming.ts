/**
 * Names of ports by a format such as `Gi{segment0}/{port0}`: replacement fields as in Python's `str.format`, GNS3's
 * form, as far as whole numbers need it.
 *
 * Two counters, interface and segment, start at 0. After each port the interface grows; with a segment size S it returns to 0 at
 * a multiple of S and the segment grows; without one (S = 0) both grow together. A first port with a name of its own counts in neither.
 */
import { fault } from '../../api/faults.ts';
import type { Port } from '../../schema/node.ts';
import type { PortNaming } from '../kind.ts';
import { macPlus } from './mac-address.ts';

export interface Adapters {
  /** Number of adapters. */
  readonly count: number;
  /** Ports of each, Ethernet; 1 unless given. */
  readonly portsEach?: number;
  readonly adapter_type?: string | undefined;
  /** Address of adapter 0; adapter n has this plus n. */
  readonly mac_address?: string | undefined;
}

const ethernetLinkTypes = { Ethernet: 'DLT_EN10MB' };
export const serialLinkTypes = { 'Frame Relay': 'DLT_FRELAY', 'Cisco HDLC': 'DLT_C_HDLC', 'Cisco PPP': 'DLT_PPP_SERIAL' };

/** More than any kind allows in a request. A project file may say any number, and its node is listed all the same. */
export const mostAdapters = 1024;

/** Ports of a kind whose adapters have equally many Ethernet ports. @throws node_name_format */
export function namePorts(adapters: Adapters, naming: PortNaming): Port[] {
  const portsEach = adapters.portsEach ?? 1;
  const next = namer(naming);
  return Array.from({ length: Math.min(adapters.count, mostAdapters) * portsEach }, (_, index) => {
    const adapter = Math.floor(index / portsEach);
    const custom = naming.custom_adapters.find((entry) => entry.adapter_number === adapter);
    const { name, short } = next(adapter);
    const type = custom?.adapter_type ?? adapters.adapter_type;
    const mac = custom?.mac_address ?? (adapters.mac_address && macPlus(adapters.mac_address, adapter));
    return {
      adapter_number: adapter,
      port_number: index % portsEach,
      name: custom?.port_name ?? name,
      short_name: custom?.port_name ?? short,
      link_type: 'ethernet',
      data_link_types: ethernetLinkTypes,
      ...(type && { adapter_type: type }),
      ...(mac && { mac_address: mac }),
    };
  });
}

/** The only port of a kind that has one. */
export function oneEthernetPort(): Port[] {
  const name = { name: 'Ethernet0', short_name: 'e0' };
  return [{ adapter_number: 0, port_number: 0, ...name, link_type: 'ethernet', data_link_types: ethernetLinkTypes }];
}

/** Names one port after the other. */
function namer({ first_port_name, port_name_format, port_segment_size }: PortNaming) {
  let interfaceNumber = 0;
  let segment = 0;
  return (adapter: number): { name: string; short: string } => {
    if (adapter === 0 && first_port_name) return { name: first_port_name, short: first_port_name };
    const name = formatName(port_name_format, { interfaceNumber, segment, adapter });
    const short = shortName(name, segment);
    interfaceNumber += 1;
    if (port_segment_size === 0) segment += 1;
    else if (interfaceNumber % port_segment_size === 0) {
      interfaceNumber = 0;
      segment += 1;
    }
    return { name, short };
  };
}

const longType = 'Ethernet';
const shortType = 'e';

/** `Ethernet0/1` is `e0/1`, `Ethernet2` (of segment 2) is `e2`, everything else stays. */
function shortName(name: string, segment: number): string {
  if (name.includes('/')) return name.replace(longType, shortType);
  return name.startsWith(`${longType}${segment}`) ? `${shortType}${segment}` : name;
}

interface Counters {
  readonly interfaceNumber: number;
  readonly segment: number;
  readonly adapter: number;
}

/** Fills one format. @throws node_name_format */
export function formatName(format: string, counters: Counters): string {
  const bad = (reason: string) => fault('node_name_format', { format, reason });
  const value = fieldReader(counters);
  let automatic = 0;
  let numbered = false;
  return format.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (whole, field: string | undefined) => {
    if (whole === '{{' || whole === '}}') return whole.charAt(0);
    if (field === undefined) throw bad('a brace is not closed or not opened; write {{ or }} for a brace itself');
    const match = /^([^!:]*)(?:![sra])?(?::(.*))?$/s.exec(field);
    let name = match?.[1] ?? '';
    if (name === '') name = String(automatic++);
    else numbered ||= /^\d+$/.test(name);
    if (automatic > 0 && numbered) throw bad('{} and {0} cannot be mixed');
    const number = value(name);
    if (number === undefined)
      throw bad(`there is no field {${name}}; known are {0}, {1}, {adapter}, {port0} to {port8}, {segment0} to {segment8}`);
    const text = formatNumber(number, match?.[2] ?? '');
    if (text === undefined) throw bad(`"${match?.[2]}" is no format of a whole number`);
    return text;
  });
}

function fieldReader({ interfaceNumber, segment, adapter }: Counters): (name: string) => number | undefined {
  return (name) => {
    if (name === '0') return interfaceNumber;
    if (name === '1') return segment;
    if (name === 'adapter') return adapter;
    const [, counter, step] = /^(port|segment)([0-8])$/.exec(name) ?? [];
    if (counter === undefined) return undefined;
    return (counter === 'port' ? interfaceNumber : segment) + Number(step);
  };
}

/** No port name needs more; a larger width would only be a way to fill the memory. */
const maxWidth = 64;

/** Python's format specification: `[[fill]align][0][width][type]`; undefined when it is not one. */
function formatNumber(value: number, spec: string): string | undefined {
  const match = /^(?:(.)?([<>=^]))?(0)?(\d*)([bdoxXn])?$/s.exec(spec);
  if (match === null || Number(match[4]) > maxWidth) return undefined;
  const [, fill, align, zero, width = '', type = 'd'] = match;
  const radix = { b: 2, o: 8, x: 16, X: 16 }[type] ?? 10;
  const digits = type === 'X' ? value.toString(radix).toUpperCase() : value.toString(radix);
  const missing = Math.max(0, Number(width) - digits.length);
  const filler = fill ?? (zero ? '0' : ' ');
  const before = align === '<' ? 0 : align === '^' ? Math.floor(missing / 2) : missing;
  return filler.repeat(before) + digits + filler.repeat(missing - before);
}
