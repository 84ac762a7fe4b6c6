/**
 * The templates: those that clients made, durable, and those that are built in. In the file stands what clients made, in the form
 * of GNS3's own, so that its file can be used; entries that cannot be used are kept there as they are.
 */
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { problemsOf } from '../../api/validate.ts';
import { templateFacts } from '../../emulators/kinds.ts';
import { writeFileAtomic } from '../../lib/atomic-file.ts';
import { Mutex } from '../../lib/mutex.ts';
import { findAside, readOwnJson } from '../../lib/set-aside.ts';
import type { NodeCreate, NodeType } from '../../schema/node.ts';
import { type Template, type TemplateCreate, TemplateDetails, type TemplateUpdate, TemplateWarm } from '../../schema/template.ts';
import { withTemplate } from '../../schema/template-node.ts';
import type { ControllerContext } from '../context.ts';
import { storageFailed } from '../log/project-log.ts';
import { canonical } from '../model/canonical.ts';
import { modernised, TemplateRules } from './template-rules.ts';

/** The templates that every server has: their ids, names and symbols are those that GNS3's clients know. */
const builtInTemplates: readonly Template[] = [...templateFacts].flatMap(([type, facts]) => {
  const { builtIn, category, default_name_format, symbol } = facts;
  if (!builtIn) return [];
  const { template_id, name, settings } = builtIn;
  return canonical<Template>({
    ...settings,
    builtin: true,
    category,
    compute_id: null,
    default_name_format,
    name,
    symbol,
    template_id,
    template_type: type as NodeType,
  });
});

/** The file; other keys belong to GNS3 and stay. */
type Stored = Readonly<Record<string, unknown>> & {
  readonly templates?: unknown;
  readonly warm_templates?: unknown;
  readonly template_details?: unknown;
};

/** Parts of a template that stand beside it. */
export interface TemplateExtras {
  readonly warm?: TemplateWarm | undefined;
  readonly details?: Partial<Pick<TemplateDetails, 'version' | 'tags'>>;
  /** Refuses a name that another template of the same version has. */
  readonly isNamedOnce?: true;
}

interface Kept {
  readonly keys: Stored;
  readonly entries: readonly unknown[];
  readonly machines: ReadonlyMap<string, TemplateWarm>;
  /** Entries of `warm_templates` that cannot be used, by template. */
  readonly unreadable: ReadonlyMap<string, unknown>;
}

export class Templates {
  readonly #context: ControllerContext;
  readonly #announce: (action: string, template: Template) => void;
  readonly #rules = new TemplateRules();
  readonly #changes = new Mutex();
  /** Made by clients. */
  #own: ReadonlyMap<string, Template> = new Map();
  /** Changes of these last as long as the server runs. */
  readonly #builtIn: Map<string, Template>;
  #list: readonly Template[] | undefined;
  /**
   * Content of the file that is written back unchanged: unknown keys, unusable entries, and machines of unusable entries by
   * template.
   */
  #kept: Kept = { keys: {}, entries: [], machines: new Map(), unreadable: new Map() };
  /** Details by template; templates of earlier versions have none. */
  #details: ReadonlyMap<string, TemplateDetails> = new Map();
  #hasFile = false;
  #damagedCopies: readonly string[] = [];

  private constructor(context: ControllerContext, announce: (action: string, template: Template) => void) {
    this.#context = context;
    this.#announce = announce;
    const withBuiltIn = context.settings.Server.enable_builtin_templates;
    this.#builtIn = new Map(withBuiltIn ? builtInTemplates.map((template) => [template.template_id, template]) : []);
  }

  /** `announce` tells listeners of the controller. */
  static async open(context: ControllerContext, announce: (action: string, template: Template) => void): Promise<Templates> {
    const templates = new Templates(context, announce);
    await templates.#load();
    return templates;
  }

  list(): readonly Template[] {
    this.#list ??= Object.freeze([...this.#builtIn.values(), ...this.#own.values()]);
    return this.#list;
  }

  find(templateId: string): Template | undefined {
    return this.#own.get(templateId) ?? this.#builtIn.get(templateId);
  }

  /** @throws `template_not_found` */
  get(templateId: string): Template {
    const template = this.find(templateId);
    if (!template) throw fault('template_not_found', { template_id: templateId });
    return template;
  }

  /**
   * A request for a node with the settings of the template that it names, where it has none of its own. The id of a template that this
   * server does not have is kept as it is: nodes of other servers' projects have such. @throws `invalid_request`: the template is of another type
   */
  complete<Wanted extends NodeCreate>(wanted: Wanted): Wanted {
    const template = typeof wanted.template_id === 'string' ? this.find(wanted.template_id) : undefined;
    if (!template) return wanted;
    if (template.template_type !== wanted.node_type)
      throw fault('invalid_request', {
        reason: `the template "${template.name}" is for nodes of the type ${template.template_type}`,
      });
    return withTemplate(wanted, template);
  }

  /** Returns what GNS3 3 shows of a template besides; undefined for built-in templates and those of earlier versions. */
  detailsOf(templateId: string): TemplateDetails | undefined {
    return this.#details.get(templateId);
  }

  /** @throws `invalid_request`, `template_id_taken`, `template_name_taken`, `storage_failed` */
  create(body: TemplateCreate, extras: TemplateExtras = {}): Promise<Template> {
    return this.#changes.run(async () => {
      const template = withWarm(await this.#complete(body), extras.warm);
      if (extras.isNamedOnce) this.#requireFreeName(template.name, extras.details?.version ?? null);
      await this.#add(template, extras.details);
      return template;
    });
  }

  #requireFreeName(name: string, version: string | null): void {
    const versionOf = ({ template_id }: Template) => this.detailsOf(template_id)?.version ?? null;
    const isTaken = [...this.#own.values()].some((one) => one.name === name && versionOf(one) === version);
    if (isTaken) throw fault('template_name_taken', { name });
  }

  /**
   * Id, type, compute, whether it is built in, and the machine that it holds unless another is given, stay as they are.
   * @throws `template_not_found`, `invalid_request`, `storage_failed`
   */
  update(templateId: string, body: TemplateUpdate, { warm, details }: TemplateExtras = {}): Promise<Template> {
    return this.#changes.run(async () => {
      const before = this.get(templateId);
      const { template_id, template_type, compute_id, builtin } = before;
      const wanted = { ...before, ...body, template_id, template_type, compute_id, builtin };
      const after = builtin
        ? await this.#changedBuiltIn(wanted as Template)
        : withWarm(await this.#complete(wanted), warm ?? before.warm);
      if (builtin) this.#builtIn.set(templateId, after);
      else await this.#save(new Map(this.#own).set(templateId, after), this.#withDetails(templateId, details));
      this.#changed('template.updated', after);
      return after;
    });
  }

  /** @throws `template_not_found`, `template_built_in` */
  requireOwn(templateId: string, what: string): Template {
    return this.#getOwn(templateId, what);
  }

  /** Ids of the machines that templates hold, also those that cannot be used. */
  heldMachines(): Set<string> {
    const ofOwn = [...this.#own.values()].flatMap(({ warm }) => (warm ? [warm] : []));
    return new Set([...ofOwn, ...this.#kept.machines.values()].map(({ machine_id }) => machine_id));
  }

  /** False: the file was missing or damaged when the server started. */
  get hasFile(): boolean {
    return this.#hasFile;
  }

  /** Copies of this file that were set aside as damaged, now or earlier. Only they may name the templates of some machines. */
  get damagedCopies(): readonly string[] {
    return this.#damagedCopies;
  }

  /** Templates that hold a machine which is not known: their entries in the file cannot be used. */
  get unknownMachines(): readonly string[] {
    return [...this.#kept.unreadable.keys()];
  }

  /** @throws `template_not_found`, `template_built_in`, `storage_failed` */
  delete(templateId: string): Promise<void> {
    return this.#changes.run(async () => {
      const template = this.#getOwn(templateId, 'deleted');
      const left = new Map(this.#own);
      left.delete(templateId);
      const details = new Map(this.#details);
      details.delete(templateId);
      await this.#save(left, details);
      this.#changed('template.deleted', template);
    });
  }

  /** @throws `template_not_found`, `template_built_in`, `storage_failed` */
  duplicate(templateId: string): Promise<Template> {
    return this.#changes.run(async () => {
      const copy = canonical<Template>({ ...this.#getOwn(templateId, 'duplicated'), template_id: crypto.randomUUID() });
      const { version = null, tags = [] } = this.detailsOf(templateId) ?? {};
      await this.#add(copy, { version, tags });
      return copy;
    });
  }

  #getOwn(templateId: string, what: string): Template {
    const template = this.get(templateId);
    if (template.builtin) throw fault('template_built_in', { name: template.name, what });
    return template;
  }

  async #complete(settings: Readonly<Record<string, unknown>>): Promise<Template> {
    const template = await this.#rules.complete(settings);
    if (typeof template === 'string') throw fault('invalid_request', { reason: template });
    return template;
  }

  async #changedBuiltIn(wanted: Template): Promise<Template> {
    const after = canonical(modernised(wanted) as unknown as Template);
    const reason = await this.#rules.problemsOfBuiltIn(after);
    if (reason !== undefined) throw fault('invalid_request', { reason });
    return after;
  }

  #withDetails(templateId: string, changed: TemplateExtras['details']): ReadonlyMap<string, TemplateDetails> {
    const updated_at = new Date().toISOString().slice(0, 19);
    const before = this.#details.get(templateId) ?? { version: null, tags: [], created_at: updated_at };
    return new Map(this.#details).set(templateId, { ...before, ...changed, updated_at });
  }

  async #add(template: Template, details?: TemplateExtras['details']): Promise<void> {
    const { template_id } = template;
    if (this.#own.has(template_id) || this.#builtIn.has(template_id)) throw fault('template_id_taken', { template_id });
    await this.#save(new Map(this.#own).set(template_id, template), this.#withDetails(template_id, details));
    this.#changed('template.created', template);
  }

  #changed(action: string, template: Template): void {
    this.#list = undefined;
    this.#announce(action, template);
  }

  get #file(): string {
    return join(this.#context.stateDirectory, 'templates.json');
  }

  async #load(): Promise<void> {
    const take = (value: unknown) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is no JSON object');
      const { templates = [], warm_templates = {}, template_details: details = {}, ...keys } = value as Stored;
      if (!Array.isArray(templates)) throw new Error('"templates" is no list');
      return { keys, templates, details, warm: warm_templates };
    };
    const stored = await readOwnJson(this.#file, take, (message) => this.#context.log.error(message));
    this.#damagedCopies = await findAside(this.#file);
    if (!stored) return;
    const machines = new Map<string, TemplateWarm>();
    const unreadable = new Map<string, unknown>();
    for (const [id, warm] of Object.entries(Object(stored.warm)))
      if ((await problemsOf(TemplateWarm, warm)) === undefined) machines.set(id, warm as TemplateWarm);
      else unreadable.set(id, warm);
    await this.#take(stored.keys, stored.templates, { machines, unreadable });
    const details = new Map<string, TemplateDetails>();
    for (const [id, one] of Object.entries(Object(stored.details)))
      if (this.#own.has(id) && (await problemsOf(TemplateDetails, one)) === undefined) details.set(id, one as TemplateDetails);
    this.#details = details;
    this.#hasFile = true;
  }

  async #take(
    keys: Stored,
    entries: readonly unknown[],
    { machines, unreadable }: Pick<Kept, 'machines' | 'unreadable'>,
  ): Promise<void> {
    const own = new Map<string, Template>();
    const unusable: unknown[] = [];
    for (const entry of entries) {
      const found = await this.#usable(entry);
      const reason = typeof found === 'string' ? found : own.has(found.template_id) ? 'there is another with its id' : undefined;
      if (typeof found !== 'string' && reason === undefined)
        own.set(found.template_id, withWarm(found, machines.get(found.template_id)));
      else {
        unusable.push(entry);
        this.#context.log.warn({ reason, entry }, `a template of ${this.#file} cannot be used and is kept as it is: ${reason}`);
      }
    }
    this.#own = own;
    const ids = new Set(unusable.map((entry) => Object(entry).template_id as unknown));
    const others = new Map([...machines].filter(([id]) => !own.has(id) && ids.has(id)));
    this.#kept = { keys, entries: unusable, machines: others, unreadable };
  }

  async #usable(entry: unknown): Promise<Template | string> {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return 'it is no JSON object';
    const settings = entry as Readonly<Record<string, unknown>>;
    if (typeof settings.template_id !== 'string') return 'it has no id';
    if (builtInTemplates.some((template) => template.template_id === settings.template_id))
      return 'its id is that of a built-in one';
    return this.#rules.complete(settings);
  }

  async #save(own: ReadonlyMap<string, Template>, details: ReadonlyMap<string, TemplateDetails>): Promise<void> {
    const { keys, entries } = this.#kept;
    const replaced = (id: string) => own.get(id)?.warm !== undefined || (this.#own.has(id) && !own.has(id));
    const unreadable = new Map([...this.#kept.unreadable].filter(([id]) => !replaced(id)));
    const machines = new Map<string, unknown>([...unreadable, ...this.#kept.machines]);
    for (const { template_id, warm } of own.values()) if (warm) machines.set(template_id, warm);
    // Warm machines are stored beside the templates, whose form is that of GNS3.
    const warm = machines.size > 0 ? { warm_templates: Object.fromEntries(machines) } : {};
    const templates = [...Array.from(own.values(), ({ warm: _, ...template }) => template), ...entries];
    const template_details = Object.fromEntries(details);
    const stored = { ...keys, templates, ...warm, template_details, version: this.#context.version };
    try {
      await writeFileAtomic(this.#file, `${JSON.stringify(stored, null, 4)}\n`);
    } catch (error) {
      throw storageFailed(error, this.#file);
    }
    this.#own = own;
    this.#details = details;
    this.#kept = { ...this.#kept, unreadable };
  }
}

function withWarm(template: Template, warm: TemplateWarm | undefined): Template {
  return warm ? canonical<Template>({ ...template, warm }) : template;
}
