/** Checks a client's NIO: only datagrams are carried, filters have sound values, expressions compile. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fault } from '../../api/faults.ts';
import { checkFilters, scheduleOf } from '../../api/filters.ts';
import type { BpfCompiler } from '../../fabric/bpf-compile.ts';
import { type BpfInstruction, bpfKeys, type CompiledExpressions } from '../../fabric/protocol.ts';
import { textsFirst } from '../../schema/filter.ts';
import type { Nio, NioUdp } from '../../schema/nio.ts';
import { expressionLines, expressionsOf } from '../../schema/schedule-rules.ts';
import type { BpfTables, NioRecord } from '../store.ts';

export interface NioChecks {
  readonly nodeType: string;
  readonly compiler: BpfCompiler;
  /** Links to other computes can go over TCP. */
  readonly streams: boolean;
}

export async function checkNio(nio: Nio, { nodeType, compiler, streams }: NioChecks): Promise<NioRecord> {
  const udp = requireUdp(nio, nodeType);
  const { lport, rhost, rport, filters = {}, suspend = false } = udp;
  const [effects, address, timing] = await Promise.all([
    checkEffects(filters, compiler),
    resolve(rhost),
    checkTiming(udp, compiler),
  ]);
  return Object.freeze({ lport, rhost, rport, address, ...effects, suspend, ...timing, ...ownFields(udp, streams) });
}

/** Checks a change of a NIO. It may change filters, suspend and mirror_to, each only when given, and the stream. Addresses stay. */
export async function checkChange(nio: Nio, current: NioRecord, { nodeType, compiler, streams }: NioChecks): Promise<NioRecord> {
  const udp = requireUdp(nio, nodeType);
  const { suspend = current.suspend } = udp;
  const [effects, mirror_to, timing] = await Promise.all([
    udp.filters ? checkEffects(udp.filters, compiler) : effectsOf(current),
    checkMirror(udp.mirror_to, current, streams),
    checkTiming(udp, compiler),
  ]);
  const { lport, rhost, rport, address, captures } = current;
  const kept = { ...(captures && { captures }), ...(mirror_to && { mirror_to }) };
  const changed = { ...effects, suspend, ...timing, ...ownFields(udp, streams) };
  return Object.freeze({ lport, rhost, rport, address, ...kept, ...changed });
}

/**
 * Checks the mirror; without one in the request, the current mirror stays. @throws `udp_port_taken` when it would have the port of
 * the link itself
 */
async function checkMirror(
  given: NioUdp['mirror_to'],
  { lport, mirror_to }: NioRecord,
  streams: boolean,
): Promise<NioRecord['mirror_to']> {
  if (given === undefined) return mirror_to;
  if (given === null) return undefined;
  if (given.lport === lport) throw fault('udp_port_taken', { lport });
  const { stream, ...fields } = given;
  return { ...fields, address: await resolve(given.rhost), ...(stream && streams && { stream }) };
}

/** Returns the fields that only our controllers send, and always do. */
function ownFields(nio: NioUdp, streams: boolean): Pick<NioRecord, 'mirror_of' | 'outages' | 'peer_stopped' | 'stream'> {
  const { stream, peer_stopped, outages, mirror_of } = nio;
  return {
    ...(stream && streams && { stream }),
    ...(peer_stopped !== undefined && { peer_stopped }),
    ...(outages && { outages: scheduleOf(outages) }),
    ...(mirror_of !== undefined && { mirror_of }),
  };
}

/** The form in which a NIO is answered. */
export function presentNio(nio: NioRecord): Record<string, unknown> {
  return { type: 'nio_udp', lport: nio.lport, rhost: nio.rhost, rport: nio.rport };
}

/** The union's discriminator is not narrowed by the compiler, as the other shapes share one schema. */
function requireUdp(nio: Nio, nodeType: string): NioUdp {
  if (nio.type !== 'nio_udp') throw fault('nio_type', { type: nio.type, node_type: nodeType });
  return nio as NioUdp;
}

type Effects = Pick<NioRecord, 'filters'> & BpfTables;

async function checkEffects(given: NonNullable<NioUdp['filters']>, compiler: BpfCompiler): Promise<Effects> {
  const filters = textsFirst(checkFilters(given));
  const used = bpfKeys.filter((key) => filters[key]);
  const programs = await Promise.all(
    used.map(async (key) => [key, await compile(String(filters[key]?.[0] ?? ''), key, compiler)] as const),
  );
  return { filters, ...Object.fromEntries(programs) };
}

/** Checked and compiled before. */
function effectsOf(current: NioRecord): Effects {
  const { filters } = current;
  return { filters, ...Object.fromEntries(bpfKeys.flatMap((key) => (current[key] ? [[key, current[key]]] : []))) };
}

/** Expressions one after the other: a schedule may have dozens, and each is a process. */
async function checkTiming({ schedule }: NioUdp, compiler: BpfCompiler): Promise<Pick<NioRecord, 'schedule' | 'expressions'>> {
  if (!schedule) return {};
  const checked = scheduleOf(schedule);
  const expressions: CompiledExpressions[] = [];
  for (const [text, name] of expressionsOf(checked.steps)) {
    const programs: BpfInstruction[][] = [];
    for (const line of expressionLines(text)) programs.push(await compiler.compile(line, name));
    expressions.push({ text, programs });
  }
  return { schedule: checked, ...(expressions.length > 0 && { expressions }) };
}

/** Compiles each line of the filter to a program. */
function compile(text: string, filter: string, compiler: BpfCompiler): Promise<BpfInstruction[][]> {
  return Promise.all(expressionLines(text).map((line) => compiler.compile(line, filter)));
}

async function resolve(host: string): Promise<string> {
  if (isIP(host) === 4) return host;
  try {
    return (await lookup(host, { family: 4 })).address;
  } catch (cause) {
    throw fault('host_unknown', { host, reason: (cause as Error).message }, { cause });
  }
}

/** Answers whether an address is this machine's. The list of its addresses is read again when it is older than a few seconds. */
export function localAddresses(maxAgeMs = 5000): (address: string) => boolean {
  let known = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    if (/^(127\.|0\.0\.0\.0$|::1$)/.test(address)) return true;
    if (performance.now() - readAt > maxAgeMs) {
      readAt = performance.now();
      known = new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address)));
    }
    return known.has(address);
  };
}
