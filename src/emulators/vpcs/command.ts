/** The command line of vpcs, from plain facts. Sources of the options: README.md beside this file. */
import { knowsRelayOption } from './binary.ts';

export interface VpcsPorts {
  /** TCP: the console of vpcs itself. */
  readonly console: number;
  /** UDP: where vpcs listens, and where the fabric does. */
  readonly local: number;
  readonly fabric: number;
  /** UDP: the relay, which versions that cannot switch it off open 9 above `local`. */
  readonly relay?: number;
}

export interface VpcsLaunch {
  readonly version: string;
  readonly ports: VpcsPorts;
  /** Last byte of the MAC address 00:50:79:66:68:xx. */
  readonly macId: number;
  /** Name of the startup script in the working folder, if there is one. */
  readonly script: string | undefined;
}

/** How far above its own port the relay is. */
export const relayOffset = 9;

export function vpcsArguments({ version, ports, macId, script }: VpcsLaunch): string[] {
  return [
    ...['-p', String(ports.console)],
    ...['-m', String(macId)],
    ...['-i', '1'],
    // Stay in the foreground: the process we started is the one to look after.
    '-F',
    ...(knowsRelayOption(version) ? ['-R'] : []),
    ...['-s', String(ports.local)],
    ...['-c', String(ports.fabric)],
    ...['-t', '127.0.0.1'],
    ...(script === undefined ? [] : [script]),
  ];
}
