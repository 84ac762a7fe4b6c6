/**
 * Commands with arguments that are typed in the command menu: `start PC1`, `delay 100 PC1-SW1`, `capture PC2`, `freeze before ospf`,
 * `ping PC1 PC2`. Loaded when the menu is first opened.
 */
import { signal } from '@preact/signals';
import type { Link } from '../../../src/schema/link.ts';
import type { Node } from '../../../src/schema/node.ts';
import type { Snapshot } from '../../../src/schema/snapshot.ts';
import { beginCapture, openCapture } from '../../capture/capture-dialog.tsx';
import { askRestore, forkSnapshot, restoredText, restoreSnapshot, takeNow, unusedName } from '../../dialogs/snapshot-requests.ts';
import { snapshotTexts } from '../../dialogs/snapshot-texts.ts';
import type { FilterChanges } from '../../impair/form.ts';
import { aliasesOf } from '../../impair/use-filter-draft.ts';
import { projectPath } from '../../router.ts';
import { endNames } from '../../scene/link-view.tsx';
import { portName } from '../../scene/port-name.ts';
import type { App } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import { otherWords } from '../../texts/words.ts';
import { texts } from '../../texts.ts';
import { type Action, contextOf, runAction } from '../action.ts';
import type { Target } from './entries.ts';
import { impairmentOf } from './impair-words.ts';
import { eachNamed, matching } from './matching.ts';
import { phraseTexts } from './phrase-texts.ts';
import { pingPhrases, tracePhrases } from './ping-phrase.ts';

const mostItems = 12;
const clearWords: readonly string[] = ['clear', 'unimpair'];
const snapshotVerbs: readonly string[] = ['freeze', 'snapshot', 'rewind', 'restore', 'fork'];

export class Phrases {
  readonly #app: App;
  readonly #project: ProjectState;
  readonly #actions: readonly Action[];
  readonly #snapshots = signal<readonly Snapshot[]>([]);
  #hasAsked = false;

  constructor(app: App, project: ProjectState, actions: readonly Action[]) {
    this.#app = app;
    this.#project = project;
    this.#actions = actions.filter(({ offered }) => offered?.(contextOf(app)) !== false);
  }

  /** The commands that a text may mean, the likeliest first; none when its first word is no verb, or names nothing. */
  of(text: string): readonly Target[] {
    const [first = '', ...words] = text.trim().split(/\s+/);
    const verb = first.toLowerCase();
    const rest = words.join(' ');
    return [
      ...this.#impairments(verb, words),
      ...this.#snapshotPhrases(verb, rest),
      ...(verb === 'ping' ? pingPhrases(this.#app, this.#project, words) : []),
      ...(verb === 'trace' ? tracePhrases(this.#app, this.#project, words) : []),
      ...(rest === '' ? [] : this.#itemPhrases(verb, rest)),
    ].map((target) => ({ ...target, phrase: text.trim() }));
  }

  /** A command that acts on what is selected, with its items named. */
  #itemPhrases(verb: string, rest: string): Target[] {
    const { nodes } = this.#project;
    return this.#actions
      .filter((action) => isMeant(action, verb))
      .flatMap(({ places = [], ...action }) => {
        const several = places.includes('node') ? eachNamed(nodes.all.value, rest, ({ name }) => name) : undefined;
        if (several)
          return [
            this.#onItems(
              action,
              several.map(({ node_id }) => node_id),
              several.map(({ name }) => name).join(', '),
            ),
          ];
        const found = places.includes('node') ? matching(nodes.all.value, rest, ({ name }) => ({ whole: [name] })) : [];
        return [
          ...found.slice(0, mostItems).map(({ node_id, name }) => this.#onItems(action, [node_id], name)),
          ...(places.includes('link') ? this.#linksOf(rest).slice(0, mostItems) : []).map((link) => this.#onLink(action, link)),
        ];
      });
  }

  #onItems(action: Action, ids: readonly string[], name: string): Target {
    const app = this.#app;
    return {
      id: `${action.id} ${ids.join(' ')}`,
      label: `${action.label} ${name}`,
      hint: texts.groups[action.group],
      icon: action.icon ?? 'settings',
      run: () => {
        this.#project.selection.set(ids);
        if (action.enabled(contextOf(app))) runAction(action, app);
        else app.toasts.show('info', `${action.label} ${name}: ${texts.find.lacks.now}`);
      },
    };
  }

  #onLink(action: Action, link: Link): Target {
    const target = this.#onItems(action, [link.link_id], this.#nameOf(link));
    const more = { ...target, hint: this.#portsOf(link) };
    if (action.id !== 'capture') return more;
    // The command itself asks for the options of the capture first.
    const begin = () => this.#app.toasts.attempt(() => beginCapture(this.#app, this.#project, link));
    return { ...more, run: () => (link.capturing ? openCapture(this.#app, link.link_id) : begin()) };
  }

  #impairments(verb: string, words: readonly string[]): Target[] {
    // A verb alone is looked for among the commands.
    if (words.length === 0) return [];
    const isClear = clearWords.includes(verb);
    const impairment = isClear ? { label: phraseTexts.clear, rest: words.join(' '), filters: {} } : impairmentOf(verb, words);
    if (!impairment) return [];
    const { filters, label, rest } = impairment;
    // `duplicate 5 PC1` impairs its link, `duplicate PC1` copies it.
    if (!filters && this.#actions.some((action) => isMeant(action, verb))) return [];
    const all = this.#linksOf(rest).filter((link) => !isClear || Object.keys(link.filters).length > 0);
    const { selection } = this.#project;
    const links =
      rest === '' ? [...all].sort((one, other) => Number(selection.has(other.link_id)) - Number(selection.has(one.link_id))) : all;
    const lacks = filters ? (links.length === 0 && rest !== '' ? phraseTexts.noneOf(rest) : undefined) : phraseTexts.noNumber(verb);
    if (lacks !== undefined)
      return [{ id: verb, label: texts.actions.impair, hint: lacks, lacks, icon: 'settings', run: () => undefined }];
    return links.slice(0, mostItems).map((link) => ({
      id: `${verb} ${link.link_id}`,
      label: phraseTexts.onLink(label, this.#nameOf(link)),
      hint: this.#portsOf(link),
      icon: 'settings',
      run: () => this.#impair(link, isClear ? withoutAll(link) : (filters ?? {})),
    }));
  }

  #impair(link: Link, filters: FilterChanges): Promise<unknown> {
    const { api, toasts } = this.#app;
    const { links, path, selection } = this.#project;
    return toasts.attempt(async () => {
      links.put(await api.patch<Link>(`${path}/links/${link.link_id}`, { filters: { ...aliasesOf(filters, link), ...filters } }));
      selection.set([link.link_id]);
    });
  }

  #snapshotPhrases(verb: string, rest: string): Target[] {
    const [app, { path }] = [this.#app, this.#project];
    if (!snapshotVerbs.includes(verb)) return [];
    const snapshots = this.#readSnapshots();
    const entry = (id: string, label: string, task: () => Promise<unknown>): Target => ({
      ...{ id, label, hint: texts.groups.project, icon: 'settings', run: () => app.toasts.attempt(task) },
    });
    if (verb === 'freeze' || verb === 'snapshot') {
      const name = rest || unusedName(snapshots.map((one) => one.name));
      const take = () => takeNow(app, path, { name, memory: verb === 'freeze' });
      return [entry(`${verb} ${name}`, phraseTexts[verb](name), take)];
    }
    const meant = matching(snapshots.toReversed(), rest, ({ name }) => ({ whole: [name] })).slice(0, mostItems);
    if (verb === 'fork')
      return meant
        .filter(({ memory }) => memory)
        .map((snapshot) =>
          entry(`fork ${snapshot.snapshot_id}`, phraseTexts.fork(snapshot.name), async () => {
            app.toasts.show('info', snapshotTexts.forking);
            const [made] = await forkSnapshot(app, path, snapshot, 1);
            if (made) app.router.go(projectPath(made.project_id));
          }),
        );
    return meant.map((snapshot) =>
      entry(`${verb} ${snapshot.snapshot_id}`, phraseTexts[snapshot.memory ? 'rewind' : 'restore'](snapshot.name), async () => {
        if (!(await askRestore(app, snapshot))) return;
        await restoreSnapshot(app, path, snapshot);
        app.toasts.show('done', restoredText(snapshot));
      }),
    );
  }

  /** The snapshots that are known; they are read when a command first needs them, by an account that may see them. */
  #readSnapshots(): readonly Snapshot[] {
    const { api, server } = this.#app;
    const { id, path } = this.#project;
    if (!this.#hasAsked && server.rights.may('Snapshot.Audit', `/projects/${id}`)) {
      this.#hasAsked = true;
      const read = (snapshots: readonly Snapshot[]) => {
        this.#snapshots.value = snapshots;
      };
      // A list that cannot be read leaves the commands without snapshots.
      api.get<Snapshot[]>(`${path}/snapshots`).then(read, () => undefined);
    }
    return this.#snapshots.value;
  }

  #linksOf(text: string): readonly Link[] {
    return matching(this.#project.links.all.value, text, (link) => {
      const [one, other] = endNames(this.#project, link);
      return { whole: [one + other, other + one], parts: [one, other] };
    });
  }

  #nameOf(link: Link): string {
    return endNames(this.#project, link).join(' – ');
  }

  /** Names of the two ports, which tell links between the same nodes apart. */
  #portsOf(link: Link): string {
    const port = (end: 0 | 1) => {
      const node: Node | undefined = this.#project.nodes.peek(link.nodes[end]?.node_id ?? '');
      return node ? portName(node, link, end) : '?';
    };
    return `${port(0)} – ${port(1)}`;
  }
}

/**
 * Whether a verb is the first word of the command's name, or another word for it. Commands on all nodes name none; a trace has two nodes,
 * in order.
 */
function isMeant({ id, label, places }: Action, verb: string): boolean {
  if (id === 'trace') return false;
  if (!places?.some((place) => place === 'node' || place === 'link')) return false;
  return label.toLowerCase().split(' ')[0] === verb || Boolean(otherWords[id]?.split(' ').includes(verb));
}

const withoutAll = ({ filters }: Link): FilterChanges => Object.fromEntries(Object.keys(filters).map((key) => [key, null]));
