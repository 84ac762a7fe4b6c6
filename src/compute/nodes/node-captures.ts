/**
 * Captures on the ports of one node. A capture is part of its NIO's record: it is remembered while the node is stopped and when the
 * server or the fabric starts again, and goes when the NIO goes. The file is made here, with its header; the fabric fills it.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { wrongWithBaseName } from '../../lib/base-name.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import {
  type CaptureEntry,
  type CaptureOptions,
  type CaptureStart,
  dataLinkTypeOf,
  type FurtherCaptureStart,
} from '../../schema/capture.ts';
import { fileHeaderBytes, linkTypes } from '../../schema/pcap.ts';
import { fileHeader } from '../../schema/pcap-file.ts';
import type { Context } from '../context.ts';
import type { Binding } from '../links/wiring.ts';
import { type CaptureRecord, capturesOf, type NioRecord } from '../store.ts';
import type { NioOwner, NodeNios, PortNumbers } from './node-nios.ts';

export class NodeCaptures {
  readonly #context: Context;
  readonly #node: NioOwner;
  readonly #nios: NodeNios;

  constructor(context: Context, node: NioOwner, nios: NodeNios) {
    this.#context = context;
    this.#node = node;
    this.#nios = nios;
  }

  /**
   * The port's own capture; returns the path of its file.
   * @throws capture_active, capture_file_invalid, capture_file_taken, storage_failed
   */
  async start(at: PortNumbers, wanted: CaptureStart): Promise<string> {
    const before = this.#nios.get(at);
    if (before.nio.capture) throw fault('capture_active', this.#place(before));
    const capture = await this.#begin(before, wanted, crypto.randomUUID(), (record) => ({ ...before.nio, capture: record }));
    return capture.path;
  }

  /** A further one. @throws capture_id_taken, capture_file_invalid, capture_file_taken, storage_failed */
  async add(at: PortNumbers, { capture_id, ...wanted }: FurtherCaptureStart): Promise<CaptureEntry> {
    const before = this.#nios.get(at);
    const { captures = [] } = before.nio;
    if (capturesOf(before.nio).some(({ id }) => id === capture_id)) throw fault('capture_id_taken', { capture_id });
    const capture = await this.#begin(before, wanted, capture_id, (record) => ({ ...before.nio, captures: [...captures, record] }));
    return this.#entryOf(before, capture, false);
  }

  /** Ends the port's own capture. Resolves when the file is complete. One that is not there is no error. */
  async stop(at: PortNumbers): Promise<void> {
    const binding = this.#nios.get(at);
    if (binding.nio.capture) await this.#stop(binding, binding.nio.capture.id);
  }

  /** The same of a further one. */
  async remove(at: PortNumbers, captureId: string): Promise<void> {
    await this.#stop(this.#nios.get(at), captureId);
  }

  /** One has ended by itself, by a limit or because of the disk: listeners are told why. */
  async ended(binding: Binding, captureId: string, reason: string): Promise<void> {
    const present = this.#context.wiring.find(binding);
    const capture = present && findCapture(present, captureId);
    if (!present || !capture) return;
    const capture_id = capture === present.nio.capture ? null : captureId;
    await this.#stop(present, captureId);
    const { id, name, project } = this.#node;
    const { adapter: adapter_number, port: port_number } = binding;
    const event = { project_id: project.id, node_id: id, adapter_number, port_number, capture_id, reason };
    this.#context.emit({ action: 'capture.stopped', event, project_id: project.id });
    const message = `The capture ${capture.file_name} on ${name} has ended: ${reason}`;
    this.#context.emit({ action: 'log.warning', event: { message }, project_id: project.id });
  }

  list(): CaptureEntry[] {
    return this.#context.wiring
      .ofNode(this.#node.id)
      .flatMap((binding) =>
        capturesOf(binding.nio).map((capture) => this.#entryOf(binding, capture, capture === binding.nio.capture)),
      );
  }

  /** A running capture, the port's own where no id is given. @throws capture_missing */
  get(at: PortNumbers, captureId?: string): { capture: CaptureRecord; isOver: () => boolean } {
    const binding = this.#nios.get(at);
    const capture = captureId === undefined ? binding.nio.capture : findCapture(binding, captureId);
    if (!capture) throw fault('capture_missing', this.#place(binding));
    const { wiring, captures } = this.#context;
    const isGoing = () => {
      const present = wiring.find(binding);
      return present !== undefined && findCapture(present, capture.id) !== undefined;
    };
    return { capture, isOver: () => !isGoing() && !captures.isEnding(capture.id) };
  }

  async #begin(
    before: Binding,
    wanted: CaptureStart,
    id: string,
    withCapture: (record: CaptureRecord) => NioRecord,
  ): Promise<CaptureRecord> {
    const path = await this.#pathOf(wanted.capture_file_name);
    return this.#context.captures.beginning(path, async () => {
      const taken = this.#context.wiring.capturing().flatMap(({ nio }) => capturesOf(nio));
      if (taken.some((other) => other.path === path)) throw fault('capture_file_taken', { file: wanted.capture_file_name });
      const capture = recordOf(wanted, { id, path }, this.#nios.linkTypeOf(before));
      if (!wanted.append || !(await canGoOn(capture))) await makeFile(capture);
      await this.#nios.replace(before, withCapture(capture));
      return capture;
    });
  }

  async #stop(before: Binding, captureId: string): Promise<void> {
    if (findCapture(before, captureId)) {
      await this.#context.captures.ending([captureId], () => this.#nios.replace(before, without(before.nio, captureId)));
    }
  }

  #entryOf({ adapter, port }: Binding, capture: CaptureRecord, isOwn: boolean): CaptureEntry {
    return {
      capture_id: isOwn ? null : capture.id,
      node_id: this.#node.id,
      adapter_number: adapter,
      port_number: port,
      capture_file_name: capture.file_name,
      pcap_file_path: capture.path,
      ...optionsOf(capture),
    };
  }

  #place({ adapter, port }: Binding) {
    return { adapter_number: adapter, port_number: port, name: this.#node.name };
  }

  async #pathOf(name: string): Promise<string> {
    const reason = wrongWithBaseName(name);
    if (reason !== undefined) throw fault('capture_file_invalid', { file: name.slice(0, 100), reason });
    const folder = join(this.#node.project.path, 'project-files', 'captures');
    const path = join(folder, name);
    if (await isReallyBelow(this.#node.project.path, folder)) return path;
    throw fault('path_forbidden', { path, reason: "it lies outside the project's folder" });
  }
}

function findCapture({ nio }: Binding, captureId: string): CaptureRecord | undefined {
  return capturesOf(nio).find(({ id }) => id === captureId);
}

function without({ capture, captures = [], ...nio }: NioRecord, captureId: string): NioRecord {
  const left = captures.filter(({ id }) => id !== captureId);
  return { ...nio, ...(capture && capture.id !== captureId && { capture }), ...(left.length > 0 && { captures: left }) };
}

function recordOf(
  wanted: CaptureStart,
  { id, path }: { id: string; path: string },
  linkType: 'ethernet' | 'serial',
): CaptureRecord {
  const { capture_file_name, data_link_type = 'DLT_EN10MB', max_bytes, max_seconds } = wanted;
  return Object.freeze({
    id,
    path,
    file_name: capture_file_name,
    link_type: linkType === 'ethernet' ? linkTypes.DLT_EN10MB : linkTypes[data_link_type],
    side: wanted.side ?? 'after',
    nanoseconds: wanted.nanoseconds ?? false,
    ...(max_bytes !== undefined && { max_bytes }),
    ...(max_seconds !== undefined && { until: Date.now() + max_seconds * 1000 }),
  });
}

function optionsOf({ link_type, side, nanoseconds, max_bytes, until }: CaptureRecord): CaptureOptions {
  const ends_at = until === undefined ? null : new Date(until).toISOString();
  return { data_link_type: dataLinkTypeOf(link_type), side, nanoseconds, max_bytes: max_bytes ?? null, ends_at };
}

/** There is a file of that name, and of this kind of capture. @throws capture_file_invalid when it is anything else */
async function canGoOn({ path, file_name, link_type: linkType, nanoseconds }: CaptureRecord): Promise<boolean> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw fault('storage_failed', { reason: (error as Error).message }, { cause: error });
  }
  const header = Buffer.alloc(fileHeaderBytes);
  await handle.read(header, 0, fileHeaderBytes, 0).finally(() => handle.close());
  if (header.equals(fileHeader({ linkType, nanoseconds }))) return true;
  const reason = 'the file of that name that is there is not one of this kind of capture';
  throw fault('capture_file_invalid', { file: file_name, reason });
}

/** A file of that name that is there is replaced; who still reads it reads the old one to its end. */
async function makeFile({ path, link_type: linkType, nanoseconds }: CaptureRecord): Promise<void> {
  try {
    await makeFolders(join(path, '..'));
    await rm(path, { force: true });
    const handle = await open(path, 'wx');
    await handle.writeFile(fileHeader({ linkType, nanoseconds })).finally(() => handle.close());
  } catch (cause) {
    throw fault('storage_failed', { reason: (cause as Error).message }, { cause });
  }
}
