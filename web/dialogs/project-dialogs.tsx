/** Dialogs for a whole project. */
import type { Project } from '../../src/schema/project.ts';
import { projectPath } from '../router.ts';
import type { App } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ask, askName } from '../ui/ask.tsx';
import { showLazily } from '../ui/lazy.tsx';

const pathOf = ({ project_id }: Project) => `/v2/projects/${project_id}`;
const nameOf = ({ name }: Project) => name ?? '';

export const projectDialogs = {
  create(app: App): void {
    const submit = async (name: string) => {
      // The page may be closed at any time: nodes keep running until they are stopped.
      const made = await app.api.post<Project>('/v2/projects', {
        name,
        auto_close: false,
        replicate_link_state: true,
        show_grid: true,
        show_interface_labels: true,
      });
      app.router.go(projectPath(made.project_id));
    };
    askName(app, { title: texts.newProject, label: texts.name, yes: texts.create, submit });
  },

  rename(app: App, project: Project): void {
    const submit = async (name: string) => app.server.projects.put(await app.api.put<Project>(pathOf(project), { name }));
    askName(app, { title: texts.rename, label: texts.name, value: nameOf(project), yes: texts.rename, submit });
  },

  duplicate(app: App, project: Project): void {
    const value = texts.copyOf(nameOf(project));
    const submit = async (name: string) => {
      await app.api.post(`${pathOf(project)}/duplicate`, { name });
      app.toasts.show('done', texts.duplicated(nameOf(project), name));
    };
    askName(app, { title: texts.duplicate, label: texts.name, value, yes: texts.duplicate, submit });
  },

  /** Asks for confirmation when nodes would be stopped. Resolves to whether the project was closed. */
  async close(app: App, project: Project): Promise<boolean> {
    const nodes = await app.api.get<{ status: string }[]>(`${pathOf(project)}/nodes`);
    const running = nodes.filter(({ status }) => status === 'started').length;
    if (running > 0 && !(await ask(app, texts.askClose(nameOf(project), running)))) return false;
    await app.api.post(`${pathOf(project)}/close`);
    return true;
  },

  askDelete(app: App, project: Project): Promise<boolean> {
    return ask(app, { ...texts.askDeleteProject(nameOf(project)), danger: true });
  },

  settings(app: App, project: Project): void {
    showLazily(app, async () => {
      const { ProjectSettings } = await import('./project-settings.tsx');
      return (close) => <ProjectSettings project={project} close={close} />;
    });
  },
  access(app: App, project: Project): void {
    showLazily(app, async () => {
      const { AccessDialog } = await import('../people/access-dialog.tsx');
      return (close) => <AccessDialog project={project} close={close} />;
    });
  },
  snapshots(app: App, project: Project): void {
    showLazily(app, async () => {
      const { SnapshotsDialog } = await import('./snapshots-dialog.tsx');
      return (close) => <SnapshotsDialog project={project} close={close} />;
    });
  },
  export(app: App, project: Project): void {
    showLazily(app, async () => {
      const { ExportDialog } = await import('./export-dialog.tsx');
      return (close) => <ExportDialog project={project} close={close} />;
    });
  },
  import(app: App): void {
    showLazily(app, async () => {
      const { ImportDialog } = await import('./import-dialog.tsx');
      return (close) => <ImportDialog close={close} />;
    });
  },
  openLab(app: App): void {
    showLazily(app, async () => {
      const { LabDialog } = await import('./lab-dialog.tsx');
      return (close) => <LabDialog close={close} />;
    });
  },
  samples(app: App): void {
    showLazily(app, async () => {
      const { SamplesDialog } = await import('./samples-dialog.tsx');
      return (close) => <SamplesDialog close={close} />;
    });
  },
};
