/** A window of its own for one console. */
import { useEffect } from 'preact/hooks';
import { ConsoleView } from '../console/console-view.tsx';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';

export function ConsoleWindow({ nodeId }: { readonly nodeId: string }) {
  const { consoles } = useApp();
  const project = useProject();
  const name = project.nodes.find(nodeId)?.name;
  useEffect(() => {
    if (name) document.title = `${name} – ${texts.product}`;
  }, [name]);
  useEffect(() => {
    consoles.wanted.value = nodeId;
  }, [consoles, nodeId]);
  if (project.phase.value !== 'opened') return <p class="loading">{texts.openingProject}</p>;
  return (
    <main class="console-window" aria-label={name ?? texts.consoles}>
      <h1 class="unseen">{name}</h1>
      <div class="console">
        <ConsoleView nodeId={nodeId} visible />
      </div>
    </main>
  );
}
