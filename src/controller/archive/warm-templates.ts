/**
 * Templates that hold a booted machine. The machine is kept on the local compute first, then the template is stored with its id
 * in one write: a crash in between leaves a machine that no template holds, which the next start removes.
 */
import { randomUUID } from 'node:crypto';
import { fault } from '../../api/faults.ts';
import { templateFacts } from '../../emulators/kinds.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import type { BulkNode } from '../../schema/bulk.ts';
import type { Template, TemplateCreate, TemplateUse, TemplateWarm, WarmTemplateCreate } from '../../schema/template.ts';
import { nodeFrom } from '../../schema/template-node.ts';
import type { Templates } from '../catalog/templates.ts';
import { localComputeId } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { LiveProject } from '../live/live-project.ts';
import { lenienceOf } from '../live/nodes/missing-images.ts';
import type { Fill } from '../live/nodes/node-plan.ts';
import type { NodeObject } from '../model/node.ts';
import type { NodeEntry } from '../model/topology.ts';
import type { KnownProject } from '../projects/project.ts';

export interface WarmTemplatesParts {
  readonly templates: Templates;
  readonly computes: Computes;
  readonly warn: (message: string) => void;
}

/** Characters of ids in a warning. */
const mostShown = 1000;

export class WarmTemplates {
  readonly #parts: WarmTemplatesParts;
  /** Serialises replacements of a template's machine, by template. */
  readonly #replacing = new KeyedMutex();

  constructor(parts: WarmTemplatesParts) {
    this.#parts = parts;
  }

  /**
   * The machine of a running node becomes a new template, or replaces that of one.
   * @throws node_not_found, template_not_found, template_built_in, machine_not_kept, disk_floor, storage_failed
   */
  keep(project: KnownProject, nodeId: string, wanted: WarmTemplateCreate): Promise<Template> {
    const keep = () => this.#keep(project, nodeId, wanted);
    return wanted.template_id === undefined ? keep() : this.#replacing.run(wanted.template_id, keep);
  }

  async #keep(project: KnownProject, nodeId: string, { name, template_id }: WarmTemplateCreate): Promise<Template> {
    const { templates, computes } = this.#parts;
    const { entry } = (await project.live()).nodes.get(nodeId);
    const refuse = (reason: string) => fault('machine_not_kept', { name: entry.name, reason });
    if (entry.compute_id !== localComputeId) throw refuse('it runs on another compute');
    const before = template_id === undefined ? undefined : templates.requireOwn(template_id, 'changed');
    if (before && before.template_type !== entry.node_type) throw refuse(`the template "${before.name}" is of another type`);
    const settings = settingsOf(entry);
    const machine_id = randomUUID();
    const { transport } = computes.local;
    const kept = await transport.call('POST /v2/compute/projects/{project_id}/warm_machines', {
      path: { project_id: project.id },
      body: { machine_id, node_id: entry.node_id },
      timeoutMs: 0,
    });
    const warm: TemplateWarm = { machine_id, node_name: entry.name, created_at: Math.floor(Date.now() / 1000), ...kept };
    try {
      if (!before) {
        const named = { ...settings, name: name ?? `${entry.name}-warm`, symbol: entry.symbol, compute_id: localComputeId };
        return await templates.create(named as TemplateCreate, { warm });
      }
      const after = await templates.update(before.template_id, { ...settings, ...(name !== undefined && { name }) }, { warm });
      await this.#release(before);
      return after;
    } catch (error) {
      await this.#remove(machine_id);
      throw error;
    }
  }

  /** A node from a template; from the memory of one that holds a machine. @throws what making a node does, and disk_floor */
  use(live: LiveProject, template: Template, use: TemplateUse, computeId: string): Promise<NodeObject> {
    const { warm, name } = template;
    const body = nodeFrom(template, use, computeId);
    const fill = warm && computeId === localComputeId ? this.#fillFrom(name, warm) : undefined;
    return live.nodes.create(body, fill, lenienceOf(use.strict));
  }

  /** Returns the saved machine of the template that a node in a bulk names. @throws template_not_found, invalid_request */
  fillOf({ warm_template, node_type, compute_id }: BulkNode): Fill | undefined {
    if (warm_template === undefined) return undefined;
    const { name, warm, template_type } = this.#parts.templates.get(warm_template);
    const refuse = (reason: string) => fault('invalid_request', { reason: `the template "${name}" ${reason}` });
    if (!warm) throw refuse('holds no machine');
    if (template_type !== node_type) throw refuse(`is for nodes of the type ${template_type}`);
    if (compute_id !== localComputeId) throw refuse(`has its memory on the compute ${localComputeId}`);
    return this.#fillFrom(name, warm);
  }

  #fillFrom(template: string, { machine_id }: TemplateWarm): Fill {
    return async ({ projectId, id }) => {
      await this.#parts.computes.local.transport.send('POST /v2/compute/projects/{project_id}/warm_machines/{machine_id}/copy', {
        path: { project_id: projectId, machine_id },
        body: { node_id: id, template },
        timeoutMs: 0,
      });
    };
  }

  /**
   * Deletes a template with its machine; nodes that were made from it stay. @throws `template_not_found`, `template_built_in`,
   * `storage_failed`
   */
  async delete(templateId: string): Promise<void> {
    const template = this.#parts.templates.requireOwn(templateId, 'deleted');
    await this.#parts.templates.delete(templateId);
    await this.#release(template);
  }

  /** Removes machines that no template holds. It runs at the server's start, before templates are changed. Never rejects. */
  async prune(): Promise<void> {
    const { hasFile, damagedCopies, unknownMachines } = this.#parts.templates;
    if (damagedCopies.length > 0)
      this.#parts.warn(
        `machines of lost templates are kept on this server: ${damagedCopies.join(' and ')} may name them. Stop the server, repair the list and move it back, or remove it; then the next start frees their space`,
      );
    if (unknownMachines.length > 0)
      this.#parts.warn(
        `machines that no template holds are kept on this server: in templates.json, the entries of warm_templates for ${unknownMachines.join(', ').slice(0, mostShown)} cannot be used, and may mean them. Stop the server, and repair or remove these entries; then the next start frees their space`,
      );
    if (!hasFile || damagedCopies.length > 0 || unknownMachines.length > 0) return;
    const kept = [...this.#parts.templates.heldMachines()];
    await this.#parts.computes.local.transport
      .send('POST /v2/compute/warm_machines/prune', { body: { kept } })
      .catch((error: unknown) => this.#parts.warn(`machines that no template holds could not be removed: ${error}`));
  }

  /** A copy of the template may hold the same machine. */
  async #release({ warm }: Template): Promise<void> {
    if (warm && !this.#parts.templates.heldMachines().has(warm.machine_id)) await this.#remove(warm.machine_id);
  }

  /** Removes a machine. The next start of the server removes a machine that could not be removed here. */
  async #remove(machineId: string): Promise<void> {
    await this.#parts.computes.local.transport
      .send('DELETE /v2/compute/warm_machines/{machine_id}', { path: { machine_id: machineId } })
      .catch((error: unknown) => this.#parts.warn(`the machine ${machineId} of a template could not be removed: ${error}`));
  }
}

/** Settings that are not copied from the node: each new node gets its own. */
const ofOneNode: ReadonlySet<string> = new Set(['mac_address', 'name', 'template_id', 'symbol', 'compute_id']);

/** Derives the settings of a template from this node. */
function settingsOf(entry: NodeEntry): Partial<TemplateCreate> & { template_type: TemplateCreate['template_type'] } {
  const facts = templateFacts.get(entry.node_type);
  const known = new Set(Object.keys(facts?.properties ?? {}));
  const given = Object.entries({ ...entry, ...entry.properties, custom_adapters: entry.custom_adapters.map(withoutAddress) });
  const kept = given.filter(([key, value]) => known.has(key) && !ofOneNode.has(key) && value !== null && value !== undefined);
  return { ...Object.fromEntries(kept), template_type: entry.node_type as TemplateCreate['template_type'] };
}

function withoutAddress<T extends { readonly mac_address?: unknown }>({ mac_address: _, ...adapter }: T) {
  return adapter;
}
