/**
 * Texts in which a PC describes itself and its commands. Names, options and their order are those of vpcs 0.5b2; the sentences are ours.
 */

const bold = (text: string) => `\x1b[1m${text}\x1b[0m`;
/** A head in bold, and indented lines. */
const page = (head: string, ...lines: string[]) => `\n${bold(head)}\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** Scripts look for the name of the program that this one can stand in for. */
export const version = '\nPC of Patchbay, compatible with Virtual PC Simulator, version 0.5b2\n';
export const banner = `${version}\nPress '?' to get help.\n`;

const list: readonly [string, string][] = [
  ['?', 'Print help'],
  ['arp', `Shortcut for: ${bold('show arp')}. Show the ARP table`],
  ['clear [arguments]', 'Clear IPv4/IPv6 addresses, ARP/neighbor table, command history'],
  ['dhcp [-options]', `Shortcut for: ${bold('ip dhcp')}. Obtain an IPv4 address by DHCP`],
  ['disconnect', 'Exit the telnet session; the PC keeps running'],
  ['echo <text>', 'Display <text>'],
  ['help', 'Print help'],
  ['history', `Shortcut for: ${bold('show history')}. List the command history`],
  ['ip [arguments]', "Configure the PC's IP settings"],
  ['load [filename]', 'Run the commands of a file (default: startup.vpc)'],
  ['ping <host> [-options]', 'Ping <host> with ICMP (default), UDP or TCP'],
  ['quit', 'Stop the PC'],
  ['rlogin [<ip>] <port>', 'Open a session over TCP from this PC'],
  ['save [filename]', 'Save the configuration to a file (default: startup.vpc)'],
  ['set [arguments]', 'Set name, MTU, dump options, echo of scripts'],
  ['show [arguments]', `Print information (default: addresses). Try ${bold('show ?')}`],
  ['sleep <seconds> [text]', 'Print <text> and pause for <seconds>'],
  ['trace <host> [-options]', 'Print the path that packets take to <host>'],
  ['version', `Shortcut for: ${bold('show version')}`],
];
export const commandList = `\n${list.map(([name, text]) => `${name.padEnd(25)}${text}\n`).join('')}\nA "?" after a command prints its options.\n`;

const targetNotes = ['', 'Names are looked up at the DNS server of "ip dns". Ctrl+C stops the command.'];

/** Help pages by command, and by command and first argument. */
export const helpTexts: Readonly<Record<string, string>> = {
  arp: page('show arp [<digit>|all]', 'Show the ARP table'),
  clear: page('clear [ip|ipv6|arp|neighbor|hist]', 'Clear IPv4/IPv6 addresses, ARP/neighbor table, command history'),
  dhcp: page(
    'ip dhcp [-options]',
    'Obtain IPv4 address, mask, gateway and DNS servers by DHCP',
    '-d   show the messages',
    '-r   renew the lease',
    '-x   release the lease',
  ),
  help: page('help', 'Print help. "?" after a command prints more'),
  ip: page(
    'ip [arguments]',
    "Configure the PC's IP settings",
    '<address> [/<mask>] [<gateway>]',
    '<address> [<gateway>] [/<mask>]',
    '               Set address, mask and default gateway. Default mask: /24 for IPv4, /64 for IPv6.',
    '               <mask> may be written as /26, 26 or 255.255.255.192',
    'auto           Obtain IPv6 address and gateway by SLAAC',
    'dhcp [-d|-r|-x] Obtain, renew or release an IPv4 address by DHCP; -d shows the messages',
    "dns <ip>       Set the DNS server; '0' deletes it",
    'domain <name>  Set the local domain name',
    'mtu <value>    Set the MTU, at least 576',
  ),
  'ip dhcp': page(
    'ip dhcp [-options]',
    'Obtain IPv4 address, mask, gateway and DNS servers by DHCP',
    '-d   show the messages',
    '-r   renew the lease',
    '-x   release the lease',
  ),
  'ip dns': page('ip dns <ip>', "Set the DNS server; '0' deletes it"),
  'ip domain': page('ip domain <name>', 'Set the local domain, which is added to names without a dot'),
  'ip mtu': page('ip mtu <value>', 'Set the MTU, at least 576'),
  load: page(
    'load [filename]',
    'Run the commands of a file (default: startup.vpc).',
    `With ${bold('set echo on')} each command is shown before it runs. Ctrl+C stops the script.`,
  ),
  ping: page(
    'ping <host> [-options]',
    'Ping <host>, an IP address or a name',
    '-1             ICMP, default',
    '-2             UDP',
    '-3             TCP',
    '-P <protocol>  the same by number: 1 - icmp, 17 - udp, 6 - tcp',
    '-c <count>     packets to send, default 5',
    '-l <size>      bytes of data',
    '-T <ttl>       TTL, default 64',
    '-s <port>      source port',
    '-p <port>      destination port, default 7',
    '-f <flags>     send single TCP segments with these flags: C E U A P R S F',
    '-t             until Ctrl+C',
    '-i <ms>        interval between packets',
    '-w <ms>        wait for each answer',
    ...targetNotes,
  ),
  rlogin: page(
    'rlogin [<ip>] <port>',
    'Open a session over TCP with <ip> from the port of this PC (default: the PC itself).',
    'Ctrl+X ends it.',
  ),
  save: page('save [filename]', 'Save the configuration to a file (default: startup.vpc)'),
  set: page(
    'set [pcname|echo|dump|mtu]',
    'pcname <name>   name of the PC, shown in its prompt',
    'echo [on|off]   show the commands of scripts as they run',
    'dump [options]  show frames with any of detail, mac, raw; all: also frames for other hosts; off: stop',
    'mtu <value>     same as "ip mtu"',
  ),
  'set dump': page(
    'set dump [detail|mac|raw|all|off]',
    'detail  protocols',
    'mac     Ethernet addresses',
    'raw     bytes of the packet',
    'all     also frames for other hosts; needs detail, mac or raw',
    'off     stop showing frames',
  ),
  'set echo': page('set echo [on|off]', 'Show the commands of scripts as they run'),
  show: page(
    'show [arp [<digit>|all]|dump|echo|history|ip [<digit>|all]|ipv6 [<digit>|all]]',
    'arp      ARP table',
    'dump     dump flags',
    'echo     state of the echo flag',
    'history  command history',
    'ip       IPv4 settings',
    'ipv6     IPv6 settings',
    'version  version',
  ),
  'show arp': page('show arp [<digit>|all]', 'Show the ARP table'),
  'show dump': page('show dump [<digit>|all]', 'Show the dump flags'),
  'show ip': page('show ip [<digit>|all]', 'Show the IPv4 settings; all: as a table'),
  'show ipv6': page('show ipv6 [<digit>|all]', 'Show the IPv6 settings; all: as a table'),
  sleep: page('sleep [<seconds>] [text]', 'Print <text> and pause. Without <seconds>, or with 0, until a key is pressed'),
  trace: page(
    'trace <host> [-options]',
    'Print the path that packets take to <host>, an IP address or a name',
    '-P <protocol>  1 - icmp, 17 - udp (default), 6 - tcp',
    '-m <ttl>       most hops, default 8',
    '<ttl>          the same',
    ...targetNotes,
  ),
};
