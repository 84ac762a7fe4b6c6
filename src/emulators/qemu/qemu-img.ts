/** What is asked of `qemu-img`. Its own words are in every failure. */
import { rename, rm } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import type { ImageFormat } from '../../lib/disk-image/image.ts';
import { runTool } from '../../process/tool.ts';
import { escapeCommas } from './options.ts';

/** What is known of an image file, as far as it matters here. */
export interface ImageInfo {
  readonly format: string;
  /** Bytes that a guest sees. */
  readonly virtualSize: number;
  readonly encrypted: boolean;
  /** Names of the states saved inside. */
  readonly snapshots: readonly string[];
}

/** Making an image with full preallocation on a slow disk is the slowest thing asked. */
const limitMs = 120_000;

export class QemuImg {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  /** Works on images that a running machine has locked, too; opens no backing file. @throws qemu_failed */
  async info(path: string, format: ImageFormat): Promise<ImageInfo> {
    const output = await this.#run(['info', '--output=json', '-U', '-f', format, path], `The image "${path}" cannot be read`);
    const facts = JSON.parse(output) as Record<string, unknown>;
    const text = (key: string) => (typeof facts[key] === 'string' ? facts[key] : undefined);
    return {
      format: text('format') ?? 'raw',
      virtualSize: Number(facts['virtual-size'] ?? 0),
      encrypted: facts.encrypted === true,
      snapshots: ((facts.snapshots ?? []) as { name?: string }[]).map(({ name }) => name ?? ''),
    };
  }

  /** Makes an image, whole or not at all. @throws qemu_failed */
  async create(path: string, format: string, options: readonly string[], size?: string): Promise<void> {
    const unfinished = `${path}.unfinished`;
    try {
      const args = ['create', '-q', '-f', format, ...options, unfinished, ...(size === undefined ? [] : [size])];
      await this.#run(args, `The image "${path}" cannot be made`);
      await rename(unfinished, path);
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  /** An image that holds only what differs from `base`, which is not opened. @throws qemu_failed */
  async createOverlay(path: string, base: string, info: ImageInfo): Promise<void> {
    const size = String(info.virtualSize);
    if (!info.encrypted) return this.create(path, 'qcow2', ['-F', info.format, '-u', '-b', base], size);
    // The secret is given to the machine by its options (-object secret,id=<base name>…), so the base cannot be opened here.
    const key = base.slice(base.lastIndexOf('/') + 1);
    const source = { driver: info.format, file: { driver: 'file', filename: base }, encrypt: { 'key-secret': key } };
    await this.create(path, 'qcow2', ['-F', info.format, '-u', '-b', `json:${JSON.stringify(source)}`], size);
  }

  /** Says only where the base is now; the caller knows that it is the same. @throws qemu_failed */
  async moveBase(path: string, base: string, format: string): Promise<void> {
    await this.#run(
      ['rebase', '-q', '-u', '-f', 'qcow2', '-F', format, '-b', base, path],
      `The disk "${path}" cannot be joined to its image again`,
    );
  }

  /** @throws qemu_failed */
  async grow(path: string, mebibytes: number, format: string): Promise<void> {
    await this.#run(['resize', '-q', '-f', format, path, `+${mebibytes}M`], `The disk "${path}" cannot be resized`);
  }

  /** @throws qemu_failed */
  async deleteSnapshot(path: string, name: string): Promise<void> {
    // This command takes no -f; the format is one of the options of the image.
    const source = `driver=qcow2,file.driver=file,file.filename=${escapeCommas(path)}`;
    await this.#run(['snapshot', '-q', '--image-opts', '-d', name, source], `The saved state in "${path}" cannot be deleted`);
  }

  async #run(args: readonly string[], whatFailed: string): Promise<string> {
    const { code, stdout, reason } = await runTool(this.#program, args, { timeoutMs: limitMs });
    if (code !== 0) throw fault('qemu_failed', { reason: `${whatFailed}: ${reason}` });
    return stdout;
  }
}
