/** Record from which a restarted server adopts a running machine; plain data. */
import type { AdapterPort } from './adapters.ts';

interface ProcessRecord {
  readonly pid: number;
  readonly startTime: number;
}

export interface QemuRecord extends ProcessRecord {
  readonly commandLine: string;
  /** Program, arguments without those of restored memory, and the user's options. Absent in records of version 0.1. */
  readonly program?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly options?: readonly string[] | undefined;
  /** Where QEMU's own output begins in its log. */
  readonly logOffset: number;
  /** Where the fabric connects to, by adapter. */
  readonly ports: readonly AdapterPort[];
  /** The machine has a disk that can hold a saved state. */
  readonly canSaveState: boolean;
  readonly hasSerialConsole: boolean;
  /** Absent in records of version 0.1, whose machines serve their screen at the console's TCP port. */
  readonly hasScreenSocket?: boolean | undefined;
  readonly tpm?: ProcessRecord | undefined;
  readonly throttle?: ProcessRecord | undefined;
}

/** Undefined when it is not one of ours, or of a version that wrote another. */
export function asRecord(record: Readonly<Record<string, unknown>>): QemuRecord | undefined {
  const { pid, startTime, ports } = record;
  if (typeof pid !== 'number' || typeof startTime !== 'number' || !Array.isArray(ports)) return undefined;
  return record as unknown as QemuRecord;
}

/** UDP ports that QEMU older than 7.2 and the fabric use for the adapters. */
export function udpPortsOf(ports: readonly AdapterPort[]): number[] {
  return ports.flatMap((port) => (port.type === 'udp' ? [port.lport, port.rport] : []));
}
