/** The server: its computes with their load, running nodes, versions, the licence. */
import { ActionButton } from '../actions/action-button.tsx';
import { getAction } from '../actions/actions.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { ComputeDialog } from './compute-dialog.tsx';
import { ComputeList } from './compute-list.tsx';
import { DoctorDetails } from './doctor.tsx';
import { RunningNodes } from './running-nodes.tsx';
import './server.css';
import { TopBar } from './top-bar.tsx';

export function ServerPage() {
  const app = useApp();
  return (
    <div class="page">
      <TopBar />
      <main class="projects server">
        <div class="projects-head">
          <h1>{texts.server}</h1>
          <ActionButton action={getAction('sign-out-everywhere')} withLabel kind="plain" />
          <Button icon="plus" onClick={() => app.dialogs.show((close) => <ComputeDialog close={close} />)}>
            {texts.serverPage.addCompute}
          </Button>
        </div>
        <h2>{texts.serverPage.computes}</h2>
        <ComputeList />
        {app.server.computes.all.value.map(({ compute_id, name }) => (
          <DoctorDetails key={compute_id} computeId={compute_id} name={name} />
        ))}
        <h2>{texts.serverPage.running}</h2>
        <RunningNodes />
        <h2>{texts.serverPage.versions}</h2>
        <Versions />
        <h2>{texts.serverPage.licence}</h2>
        <p>{texts.serverPage.licenceText}</p>
        <p>{texts.serverPage.librariesText}</p>
      </main>
    </div>
  );
}

function Versions() {
  const { server } = useApp();
  return (
    <dl class="facts">
      <dt>{texts.product}</dt>
      <dd>{server.programVersion.value || texts.serverPage.unknown}</dd>
      <dt>{texts.serverPage.apiVersion}</dt>
      <dd>{server.version.value}</dd>
    </dl>
  );
}
