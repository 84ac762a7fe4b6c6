/** Commands for the open project as a whole. */
import { projectDialogs } from '../dialogs/project-dialogs.tsx';
import { searchOf } from '../state/shared-view.ts';
import { texts } from '../texts.ts';
import { showLazily } from '../ui/lazy.tsx';
import { saveFile } from '../ui/save-file.ts';
import { type Action, type ActionContext, inProject } from './action.ts';

const opened = ({ project }: ActionContext) => project?.project.value;

/** The whole canvas, whatever part of it is in sight. */
function savePicture(form: 'svg' | 'png', label: string): Action {
  return {
    id: `save-${form}`,
    label,
    group: 'project',
    icon: 'download',
    places: ['canvas'],
    enabled: inProject,
    run: async (context) => {
      const { asPng, scenePicture } = await import('../scene/scene-picture.ts');
      const picture = await scenePicture(context.app);
      saveFile(form === 'svg' ? picture.svg : await asPng(picture), `${opened(context)?.name ?? ''}.${form}`);
    },
  };
}

export const projectActions: readonly Action[] = [
  {
    id: 'project-snapshots',
    label: texts.actions.snapshots,
    group: 'project',
    icon: 'clock',
    enabled: inProject,
    run: (context) => {
      const project = opened(context);
      if (project) projectDialogs.snapshots(context.app, project);
    },
  },
  {
    id: 'freeze',
    label: texts.actions.freeze,
    group: 'project',
    icon: 'pause',
    keys: ['Alt+F'],
    places: ['canvas'],
    enabled: (context) =>
      inProject(context) && context.project?.nodes.all.value.some(({ status }) => status === 'started') === true,
    run: async ({ app, project }) => {
      if (!project) return;
      const { takeNow } = await import('../dialogs/snapshot-requests.ts');
      await takeNow(app, project.path, { memory: true });
    },
  },
  {
    id: 'project-captures',
    label: texts.capture.files,
    group: 'project',
    icon: 'packets',
    enabled: inProject,
    run: ({ app, project }) => {
      if (!project) return;
      showLazily(app, async () => {
        const { CapturesDialog } = await import('../capture/captures-dialog.tsx');
        return (close) => <CapturesDialog project={project} close={close} />;
      });
    },
  },
  {
    id: 'project-notes',
    label: texts.actions.notes,
    group: 'project',
    icon: 'notes',
    enabled: inProject,
    on: ({ app }) => app.tools.sidePane.value === 'notes',
    run: ({ app }) => app.tools.toggleSidePane('notes'),
  },
  {
    id: 'project-activity',
    label: texts.actions.activity,
    group: 'project',
    icon: 'activity',
    enabled: inProject,
    run: ({ app, project }) => {
      if (!project) return;
      showLazily(app, async () => {
        const { ActivityDialog } = await import('../dialogs/activity-dialog.tsx');
        return (close) => <ActivityDialog project={project} close={close} />;
      });
    },
  },
  {
    id: 'project-access',
    label: texts.actions.access,
    group: 'project',
    icon: 'people',
    offered: ({ app }) => app.server.rights.account.value !== undefined,
    enabled: inProject,
    run: (context) => {
      const project = opened(context);
      if (project) projectDialogs.access(context.app, project);
    },
  },
  {
    id: 'share-view',
    label: texts.actions.share,
    group: 'project',
    icon: 'link',
    enabled: inProject,
    run: ({ app, project }) => {
      if (!project) return;
      const { viewport } = app;
      const view = { centre: viewport.centre(), scale: viewport.state.peek().scale, ids: [...project.selection.ids.peek()] };
      const address = `${location.origin}${location.pathname}${searchOf(view)}`;
      showLazily(app, async () => {
        const { ShareDialog } = await import('../dialogs/share-dialog.tsx');
        return (close) => <ShareDialog address={address} close={close} />;
      });
    },
  },
  savePicture('svg', texts.actions.saveSvg),
  savePicture('png', texts.actions.savePng),
  {
    id: 'project-settings',
    label: texts.actions.projectSettings,
    group: 'project',
    icon: 'settings',
    keys: ['Mod+,'],
    enabled: inProject,
    run: (context) => {
      const project = opened(context);
      if (project) projectDialogs.settings(context.app, project);
    },
  },
  {
    id: 'project-export',
    label: texts.actions.export,
    group: 'project',
    icon: 'download',
    enabled: inProject,
    run: (context) => {
      const project = opened(context);
      if (project) projectDialogs.export(context.app, project);
    },
  },
  {
    id: 'project-close',
    label: texts.actions.closeProject,
    group: 'project',
    icon: 'power',
    enabled: inProject,
    run: async (context) => {
      const project = opened(context);
      if (project && (await projectDialogs.close(context.app, project))) context.app.router.go('/');
    },
  },
];
