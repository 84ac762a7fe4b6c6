/**
 * Projects that continue: their links are held, and machines that continue from memory stay paused, until all nodes have started. Then
 * the links get what was in flight when the project was frozen, the machines run, and the links are released: nothing that a machine
 * sends meets a link that is not connected yet. A client that never releases them has them released.
 */
import { join } from 'node:path';
import { forEachBounded } from '../../lib/bounded.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { resumedLinksName } from '../../schema/folders.ts';
import type { Context } from '../context.ts';
import { type FabricHolds, HeldLinks } from '../links/held-links.ts';
import { linkNodes } from './freeze.ts';
import type { ComputeProject } from './project.ts';
import type { ComputeProjects } from './projects.ts';

const longestMs = 120_000;

interface Resuming {
  readonly links: HeldLinks;
  readonly limit: NodeJS.Timeout;
}

export class ResumedLinks {
  readonly #context: Context;
  readonly #projects: ComputeProjects;
  readonly #fabric: FabricHolds;
  /** Held links by project id, in lower case. */
  readonly #held = new Map<string, Resuming>();

  constructor(context: Context, projects: ComputeProjects, fabric: FabricHolds) {
    this.#context = context;
    this.#projects = projects;
    this.#fabric = fabric;
  }

  /** @throws project_not_found, fabric_unavailable */
  async hold(projectId: string): Promise<void> {
    const project = this.#projects.get(projectId);
    const links = await HeldLinks.hold(this.#fabric, this.#context.wiring, linkNodes([...project.nodes.values()]));
    // Held a second time: the same links, which stay held.
    this.#forget(projectId)?.abandon();
    const key = projectId.toLowerCase();
    const limit = setTimeout(() => void this.release(projectId).catch(() => undefined), longestMs).unref();
    this.#held.set(key, { links, limit });
    project.holdsMachines = true;
  }

  /** Where the links could not be held, what was in flight is dropped. @throws project_not_found, fabric_unavailable */
  async release(projectId: string): Promise<void> {
    const links = this.#forget(projectId);
    try {
      const project = this.#projects.get(projectId);
      const frames = join(project.path, resumedLinksName);
      const settled = links ? links.restore(frames) : removeTree(frames);
      await settled.catch((error: Error) => {
        this.#context.log('warning', `frames in flight are not restored: ${error.message}`);
      });
      await this.#runMachines(project);
    } finally {
      await links?.release();
    }
  }

  close(): void {
    for (const { links, limit } of this.#held.values()) {
      clearTimeout(limit);
      links.release().catch(() => undefined);
    }
    this.#held.clear();
  }

  async #runMachines(project: ComputeProject): Promise<void> {
    await this.#context.wiring.connected([...project.nodes.keys()]);
    project.holdsMachines = false;
    const [error] = await forEachBounded(project.nodes.values(), project.nodes.size, (node) => node.runRestored());
    if (error !== undefined) throw error;
  }

  #forget(projectId: string): HeldLinks | undefined {
    const key = projectId.toLowerCase();
    const held = this.#held.get(key);
    clearTimeout(held?.limit);
    this.#held.delete(key);
    return held?.links;
  }
}
