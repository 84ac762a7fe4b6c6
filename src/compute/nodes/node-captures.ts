/**
 * Captures on the ports of one node. A capture is part of its NIO's record: it stays while the node is stopped and when the server or the
 * fabric starts again, and ends when the NIO is deleted. The file is created here, with its header; the fabric fills it.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { wrongWithBaseName } from '../../lib/base-name.ts';
import { isReallyBelow } from '../../lib/inside.ts';
import { makeFolders } from '../../lib/make-folders.ts';
import { type CaptureEntry, type CaptureOptions, type CaptureStart, dataLinkTypeOf, gns3CaptureId } from '../../schema/capture.ts';
import { fileHeaderBytes, linkTypes } from '../../schema/pcap.ts';
import { fileHeader } from '../../schema/pcap-file.ts';
import type { CaptureSource } from '../captures/capture-stream.ts';
import type { Context } from '../context.ts';
import type { Binding } from '../links/wiring.ts';
import { type CaptureRecord, capturesOf } from '../store.ts';
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
   * @param capture_id of the capture; without one it is the one that GNS3's API knows. `mayRename`: a file that another capture writes is left alone.
   * @throws capture_active, capture_id_taken, capture_file_invalid, capture_file_taken, storage_failed
   */
  async start(at: PortNumbers, given: CaptureStart & { capture_id?: string; mayRename?: boolean }): Promise<CaptureEntry> {
    const { mayRename, ...asked } = given;
    const wanted = { ...asked, ...(mayRename && { capture_file_name: await this.#freeName(asked.capture_file_name) }) };
    const { capture_id: id = gns3CaptureId } = wanted;
    const before = this.#nios.get(at);
    if (findCapture(before, id)) {
      if (id === gns3CaptureId) throw fault('capture_active', this.#place(before));
      throw fault('capture_id_taken', { capture_id: id });
    }
    const path = await this.#pathOf(wanted.capture_file_name);
    return this.#context.captures.starting(path, async () => {
      const taken = this.#context.wiring.capturing().flatMap(({ nio }) => capturesOf(nio));
      if (taken.some((other) => other.path === path)) throw fault('capture_file_taken', { file: wanted.capture_file_name });
      const capture = recordOf(wanted, { id, path }, this.#nios.linkTypeOf(before));
      if (!wanted.append || !(await canAppend(capture))) await createFile(capture);
      const captures = capturesOf(before.nio);
      const isFirst = id === gns3CaptureId;
      await this.#nios.replace(before, { ...before.nio, captures: isFirst ? [capture, ...captures] : [...captures, capture] });
      return this.#entryOf(before, capture);
    });
  }

  /** The name, with a number where another capture writes its file: `test-2.pcap`. */
  async #freeName(name: string): Promise<string> {
    const taken = new Set(this.#context.wiring.capturing().flatMap(({ nio }) => capturesOf(nio).map(({ path }) => path)));
    const [, stem = name, ending = ''] = /^(.+?)(\.[^.]*)?$/.exec(name) ?? [];
    let free = name;
    for (let number = 2; taken.has(await this.#pathOf(free)); number++) free = `${stem}-${number}${ending}`;
    return free;
  }

  /** Resolves when the file is complete. No error when there is no such capture. */
  async stop(at: PortNumbers, id = gns3CaptureId): Promise<void> {
    const binding = this.#nios.get(at);
    const capture = findCapture(binding, id);
    if (capture) await this.#stop(binding, capture);
  }

  /** Stops a capture that ended by itself, by a limit or because of the disk, and notifies listeners of the reason. */
  async ended({ adapter, port }: Binding, capture: CaptureRecord, reason: string): Promise<void> {
    const { id, name, project } = this.#node;
    const present = this.#context.wiring.find({ nodeId: id, adapter, port });
    if (!present || !capturesOf(present.nio).includes(capture)) return;
    await this.#stop(present, capture);
    const event = {
      project_id: project.id,
      node_id: id,
      adapter_number: adapter,
      port_number: port,
      capture_id: shownId(capture),
      reason,
    };
    this.#context.emit({ action: 'capture.stopped', event, project_id: project.id });
    const message = `The capture ${capture.file_name} on ${name} has ended: ${reason}`;
    this.#context.emit({ action: 'log.warning', event: { message }, project_id: project.id });
  }

  list(): CaptureEntry[] {
    const bindings = this.#context.wiring.ofNode(this.#node.id);
    return bindings.flatMap((binding) => capturesOf(binding.nio).map((capture) => this.#entryOf(binding, capture)));
  }

  /** Returns the source that streams a capture to its end. @throws capture_missing */
  source(at: PortNumbers, id = gns3CaptureId): CaptureSource {
    const binding = this.#nios.get(at);
    const capture = findCapture(binding, id);
    if (!capture) throw fault('capture_missing', this.#place(binding));
    const { wiring, captures } = this.#context;
    const isOver = () => {
      const present = wiring.find(binding);
      return !(present && capturesOf(present.nio).includes(capture)) && !captures.isEnding(capture);
    };
    return { path: capture.path, isOver, signal: captures.closed };
  }

  async #stop(before: Binding, capture: CaptureRecord): Promise<void> {
    const { captures: _, ...nio } = before.nio;
    const captures = capturesOf(before.nio).filter((other) => other !== capture);
    const after = captures.length > 0 ? { ...nio, captures } : nio;
    await this.#context.captures.ending([capture], () => this.#nios.replace(before, after));
  }

  #entryOf({ adapter, port }: Binding, capture: CaptureRecord): CaptureEntry {
    return {
      capture_id: shownId(capture),
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

function shownId({ id }: CaptureRecord): string | null {
  return id === gns3CaptureId ? null : id;
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

/** False when there is no file of that name. @throws capture_file_invalid when it is no pcap file with this header */
async function canAppend({ path, file_name, link_type: linkType, nanoseconds }: CaptureRecord): Promise<boolean> {
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
  const reason = 'the file of that name is not of this kind of capture';
  throw fault('capture_file_invalid', { file: file_name, reason });
}

/** Replaces a file of that name; its readers read the old one to its end. */
async function createFile({ path, link_type: linkType, nanoseconds }: CaptureRecord): Promise<void> {
  try {
    await makeFolders(join(path, '..'));
    await rm(path, { force: true });
    const handle = await open(path, 'wx');
    await handle.writeFile(fileHeader({ linkType, nanoseconds })).finally(() => handle.close());
  } catch (cause) {
    throw fault('storage_failed', { reason: (cause as Error).message }, { cause });
  }
}
