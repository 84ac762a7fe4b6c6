/** The first page: all projects, with commands to create and import them. */
import { useSignal } from '@preact/signals';
import type { ProjectOutline } from '../../src/schema/outline.ts';
import type { Project } from '../../src/schema/project.ts';
import { projectDialogs } from '../dialogs/project-dialogs.tsx';
import { projectPath } from '../router.ts';
import { useApp } from '../state/app.ts';
import { sayWhyNot } from '../state/why.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { MenuButton } from '../ui/menu-button.tsx';
import { DemoOffer } from './demo-offer.tsx';
import { projectCommands } from './project-commands.ts';
import { ProjectThumbnail } from './project-thumbnail.tsx';
import { TopBar } from './top-bar.tsx';

export function ProjectsPage() {
  const app = useApp();
  const search = useSignal('');
  const { projects, known, rights } = app.server;
  const { mayCreate } = rights;
  const ifAllowed = (task: () => unknown) => () => (mayCreate ? task() : sayWhyNot(app, 'Project.Allocate'));
  const wanted = search.value.trim().toLowerCase();
  const all = projects.all.value.toSorted(byName);
  const shown = all.filter(({ name }) => (name ?? '').toLowerCase().includes(wanted));
  return (
    <div class="page">
      <TopBar />
      <main class="projects">
        <div class="projects-head">
          <h1>{texts.projects}</h1>
          <label class="search">
            <Icon name="search" />
            <input
              type="search"
              placeholder={texts.searchProjects}
              aria-label={texts.searchProjects}
              value={search.value}
              onInput={({ currentTarget }) => {
                search.value = currentTarget.value;
              }}
            />
          </label>
          <Button icon="wire" refused={!mayCreate} onClick={ifAllowed(() => projectDialogs.samples(app))}>
            {texts.samples}
          </Button>
          <Button icon="upload" refused={!mayCreate} onClick={ifAllowed(() => projectDialogs.openLab(app))}>
            {texts.lab.open}
          </Button>
          <Button icon="upload" refused={!mayCreate} onClick={ifAllowed(() => projectDialogs.import(app))}>
            {texts.import}
          </Button>
          <Button kind="primary" icon="plus" refused={!mayCreate} onClick={ifAllowed(() => projectDialogs.create(app))}>
            {texts.newProject}
          </Button>
        </div>
        {known.value && all.length === 0 && (mayCreate ? <DemoOffer /> : <p class="empty">{texts.noProjects}</p>)}
        {all.length > 0 && shown.length === 0 && <p class="empty">{texts.nothingFound(search.value)}</p>}
        <ul class="project-list">
          {shown.map((project) => (
            <ProjectRow key={project.project_id} project={project} />
          ))}
        </ul>
      </main>
    </div>
  );
}

const byName = (one: Project, other: Project) => (one.name ?? '').localeCompare(other.name ?? '', undefined, { numeric: true });

function ProjectRow({ project }: { readonly project: Project }) {
  const app = useApp();
  const { project_id, name, status, path } = project;
  const counts = useSignal<ProjectOutline | undefined>(undefined);
  return (
    <li class="project-row">
      <a class="project-link" href={projectPath(project_id)}>
        <ProjectThumbnail projectId={project_id} status={status} counted={(outline) => (counts.value = outline)} />
        <span class="project-text">
          <strong>{name}</strong>
          <small>{path}</small>
        </span>
        {counts.value && <small class="project-counts">{texts.projectCounts(counts.value.nodes, counts.value.links)}</small>}
        <span class={`chip ${status}`}>{texts.projectStatus[status]}</span>
      </a>
      <MenuButton label={texts.actionsOf(name ?? '')} entries={projectCommands(app, project)} />
    </li>
  );
}
