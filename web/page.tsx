/** The page: the view of the current address, and what lies above every view. */
import { useSignalEffect } from '@preact/signals';
import { AppliancesPage, ImagesPage } from './panels/catalog-pages.tsx';
import { ConnectionBar } from './panels/connection-bar.tsx';
import { ConsoleWindow } from './panels/console-window.tsx';
import { ProjectPage } from './panels/project-page.tsx';
import { ProjectsPage } from './panels/projects-page.tsx';
import { useApp } from './state/app.ts';
import { texts } from './texts.ts';
import { Lazy } from './ui/lazy.tsx';
import { DialogList, ToastList } from './ui/toasts.tsx';

const loadServer = async () => (await import('./panels/server-page.tsx')).ServerPage;
const loadAccounts = async () => (await import('./panels/accounts-page.tsx')).AccountsPage;
const loadTemplates = async () => (await import('./panels/templates-page.tsx')).TemplatesPage;

export function Page() {
  const app = useApp();
  useSignalEffect(() => {
    const name = app.project.value?.project.value?.name;
    document.title = name ? `${name} – ${texts.product}` : texts.product;
  });
  return (
    <>
      <ConnectionBar />
      <View />
      <DialogList />
      <ToastList />
    </>
  );
}

function View() {
  const { router, project } = useApp();
  const view = router.view.value;
  switch (view.name) {
    case 'project':
      if (!project.value) return null;
      return view.consoleOf ? <ConsoleWindow nodeId={view.consoleOf} /> : <ProjectPage key={view.projectId} />;
    case 'server':
      return <Lazy load={loadServer} props={{}} />;
    case 'accounts':
      return <Lazy load={loadAccounts} props={{}} />;
    case 'appliances':
      return <AppliancesPage />;
    case 'images':
      return <ImagesPage />;
    case 'templates':
      return <Lazy load={loadTemplates} props={{}} />;
    default:
      return <ProjectsPage />;
  }
}
