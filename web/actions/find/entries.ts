/** Everything that the command menu finds: commands, nodes, links, templates, projects and views. */

import { projectDialogs } from '../../dialogs/project-dialogs.tsx';
import { projectPath } from '../../router.ts';
import { addNode } from '../../scene/add-node.ts';
import { endNames } from '../../scene/link-view.tsx';
import type { App } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import { otherWords } from '../../texts/words.ts';
import { texts } from '../../texts.ts';
import type { IconName } from '../../ui/icon.tsx';
import { type Action, type ActionContext, contextOf, runAction } from '../action.ts';
import { shownChord } from '../keys.ts';
import type { Entry } from './rank.ts';

export interface Target extends Entry {
  readonly id: string;
  readonly icon: IconName;
  readonly keys?: string;
  /** The text that means it, of a command with arguments. */
  readonly phrase?: string;
  readonly run: () => unknown;
}

/** Nodes and links come before commands: their names are chosen by the user. */
export function targetsOf(app: App, actions: readonly Action[]): readonly Target[] {
  const project = app.project.peek();
  const isOpen = project?.phase.peek() === 'opened';
  return [
    ...(isOpen ? [...itemsOf(project), ...usersOf(project)] : []),
    ...commandsOf(app, actions),
    ...(isOpen ? templatesOf(app, project) : []),
    ...dialogsOf(app),
    ...viewsOf(app),
  ].map((target) => ({ ...target, ...(otherWords[target.id] && { words: otherWords[target.id] }) }));
}

function itemsOf(project: ProjectState): Target[] {
  const { nodes, links, selection } = project;
  return [
    ...nodes.all.peek().map(({ node_id: id, name, node_type }): Target => {
      return {
        id,
        label: name,
        hint: `${texts.find.node} ${texts.kind[node_type]}`,
        icon: 'server',
        run: () => selection.set([id]),
      };
    }),
    ...links.all.peek().map((link): Target => {
      const { link_id: id } = link;
      return { id, label: endNames(project, link).join(' – '), hint: texts.link, icon: 'wire', run: () => selection.set([id]) };
    }),
  ];
}

/** Other users who have the project open, whose view can be followed. */
function usersOf({ presence: { others, following } }: ProjectState): Target[] {
  return others.peek().map(({ number, name }): Target => {
    const isFollowed = following.peek() === number;
    return {
      id: `follow-${number}`,
      label: texts.actions[isFollowed ? 'unfollow' : 'follow'](name),
      hint: texts.groups.view,
      icon: 'person',
      run: () => {
        following.value = isFollowed ? undefined : number;
      },
    };
  });
}

function commandsOf(app: App, actions: readonly Action[]): Target[] {
  const context = contextOf(app);
  return actions
    .filter((action) => action.keysWork !== 'byBrowser' && action.offered?.(context) !== false)
    .map((action): Target => {
      const [chord] = action.keys ?? [];
      const lacks = action.enabled(context) ? undefined : lackOf(action, context);
      return {
        id: action.id,
        label: action.label,
        hint: lacks ?? texts.groups[action.group],
        ...(lacks !== undefined && { lacks }),
        icon: action.icon ?? 'settings',
        ...(chord !== undefined && { keys: shownChord(chord) }),
        run: () => runAction(action, app),
      };
    });
}

/** Why a command does not apply. */
function lackOf({ id, group, places }: Action, { project }: ActionContext): string {
  if (project?.phase.peek() !== 'opened') return texts.find.lacks.project;
  if (group === 'links') return texts.find.lacks.link;
  if (id === 'trace') return texts.find.lacks.pair;
  return places?.includes('node') ? texts.find.lacks.node : texts.find.lacks.now;
}

function templatesOf(app: App, project: ProjectState): Target[] {
  return app.server.templates.all.peek().map(({ template_id, name }): Target => {
    return {
      id: template_id,
      label: texts.find.add(name),
      hint: texts.find.template,
      icon: 'add',
      run: () => addNode(app, project, template_id),
    };
  });
}

/** Ways to a new project. */
function dialogsOf(app: App): Target[] {
  if (!app.server.rights.mayCreate) return [];
  const dialog = (id: string, label: string, show: (shownIn: App) => void): Target => ({
    id,
    label,
    hint: texts.projects,
    icon: 'folder',
    run: () => show(app),
  });
  return [
    dialog('new-project', texts.newProject, projectDialogs.create),
    dialog('import-project', texts.importProject, projectDialogs.import),
    dialog('open-lab', texts.lab.open, projectDialogs.openLab),
    dialog('samples', texts.samples, projectDialogs.samples),
  ];
}

function viewsOf({ router, server }: App): Target[] {
  const view = (path: string, label: string): Target => ({
    id: path,
    label,
    hint: texts.views,
    icon: 'panel',
    run: () => router.go(path),
  });
  return [
    ...server.projects.all.peek().map(({ project_id: id, name }): Target => {
      return { id, label: name ?? '', hint: texts.find.project, icon: 'folder', run: () => router.go(projectPath(id)) };
    }),
    view('/', texts.projects),
    view('/templates', texts.editTemplates),
    view('/appliances', texts.appliances),
    view('/images', texts.images),
    view('/server', texts.server),
    ...(server.rights.mayAdminister ? [view('/accounts', texts.accounts)] : []),
  ];
}
