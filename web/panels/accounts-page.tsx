/** The administration of accounts and rights. Its code is loaded when it is shown. */
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Lazy } from '../ui/lazy.tsx';
import { TopBar } from './top-bar.tsx';

const load = async () => (await import('../people/admin/administration.tsx')).Administration;

export function AccountsPage() {
  const { server, router } = useApp();
  const view = router.view.value;
  return (
    <div class="page">
      <TopBar />
      <main class="projects">
        <div class="projects-head">
          <h1>{texts.accounts}</h1>
        </div>
        {server.known.value && <Lazy load={load} props={{ part: view.name === 'accounts' ? view.part : '' }} />}
      </main>
    </div>
  );
}
