/** Texts of captures and their packets. */
import { plural } from './figures.ts';

const filterValues = {
  ipv4: 'an IPv4 address or network, such as 10.0.0.1 or 10.0.0.0/24',
  ipv6: 'an IPv6 address, such as 2001:db8::1',
  mac: 'a MAC address, such as 00:50:79:66:68:00',
  port: 'a port number from 0 to 65535',
  vlan: 'a VLAN number from 0 to 4095',
};

export const capture = {
  title: 'Capture this link',
  show: 'Capture',
  start: 'Start capture',
  stop: 'Stop capture',
  openLast: 'Open the last capture',
  files: 'Captures',
  noFiles: 'No captures yet: select a link and press W.',
  remoteFile: 'on a remote compute',
  capturing: 'Capturing',
  askDelete: (name: string) => ({ title: `Delete ${name}?`, text: 'This cannot be undone.', yes: 'Delete capture' }),
  linkGone: 'This link was deleted.',
  side: 'Capture point',
  sides: { after: 'After the filters', before: 'Before the filters' },
  maxSize: 'Stop at size, MiB',
  maxTime: 'Stop after, seconds',
  noLimit: 'no limit',
  file: 'File name',
  fileByItself: 'named after the link and the time',
  packets: 'Packets',
  packet: (number: number) => `Packet ${number}`,
  packetTitle: (number: number, info: string) => `Packet ${number}: ${info}`,
  columns: ['No.', 'Time', 'Source', 'Destination', 'Protocol', 'Length', 'Info'],
  cut: 'This packet is truncated.',
  filter: 'Display filter',
  filterHint:
    'Protocols (arp, icmp, tcp, dns …), ip.addr == 10.0.0.1, tcp.port == 80, eth.addr, vlan.id, host 10.0.0.1, port 53, and, or, not, ( ), or “text”.',
  filterErrors: {
    incomplete: 'The filter is not complete.',
    open: 'The filter lacks a closing parenthesis.',
    unexpected: (found: string) => `“${found}” is not expected here.`,
    field: (name: string, known: readonly string[]) => `Unknown field “${name}”. Known fields: ${known.join(', ')}.`,
    operator: (name: string, found: string) => `“${found}” does not compare. Write: ${name} ==`,
    value: (value: string, type: keyof typeof filterValues) => `“${value}” is not ${filterValues[type]}.`,
  },
  filterWords: (words: readonly string[]) => `Searched as text: ${words.join(', ')}`,
  filterExample: 'icmp host 10.0.0.1',
  download: 'Download the shown packets as pcap',
  wireshark: 'Open in Wireshark',
  state: { connecting: 'Connecting…', reading: 'Live:', ended: 'Ended:', waiting: 'Not capturing:', failed: '' },
  counts: (shown: number, kept: number) =>
    shown === kept ? plural(kept, 'packet', 'packets') : `${shown.toLocaleString('en')} of ${plural(kept, 'packet', 'packets')}`,
  forgotten: (count: number) => `The oldest ${count.toLocaleString('en')} are only in the file.`,
} as const;
