/** Commands for a project of the list, open or closed. */
import type { Project } from '../../src/schema/project.ts';
import { projectDialogs } from '../dialogs/project-dialogs.tsx';
import { projectPath } from '../router.ts';
import type { App } from '../state/app.ts';
import { texts } from '../texts.ts';
import type { MenuEntry } from '../ui/menu-button.tsx';

export function projectCommands(app: App, project: Project): readonly MenuEntry[] {
  const isOpen = project.status === 'opened';
  const path = `/v2/projects/${project.project_id}`;
  const attempt = (task: () => Promise<unknown>) => () => app.toasts.attempt(task);
  const entries: (MenuEntry | false)[] = [
    { label: texts.open, icon: 'folder', run: () => app.router.go(projectPath(project.project_id)) },
    isOpen && { label: texts.actions.closeProject, icon: 'power', run: attempt(() => projectDialogs.close(app, project)) },
    { label: texts.rename, icon: 'edit', run: () => projectDialogs.rename(app, project) },
    { label: texts.duplicate, icon: 'copy', run: () => projectDialogs.duplicate(app, project) },
    app.server.rights.account.value !== undefined && {
      label: texts.actions.access,
      icon: 'people',
      run: () => projectDialogs.access(app, project),
    },
    {
      label: texts.actions.export,
      icon: 'download',
      run: () => projectDialogs.export(app, project),
    },
    {
      label: texts.actions.snapshots,
      icon: 'clock',
      run: () => projectDialogs.snapshots(app, project),
    },
    {
      label: texts.delete,
      icon: 'trash',
      danger: true,
      run: attempt(async () => {
        if (await projectDialogs.askDelete(app, project)) await app.api.delete(path);
      }),
    },
  ];
  return entries.filter((entry) => entry !== false);
}
