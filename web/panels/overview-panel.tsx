/** The project at a glance: counts, running nodes and failures. */

import { problemIn } from '../../src/schema/problem-marks.ts';
import { ActionButton } from '../actions/action-button.tsx';
import { getAction } from '../actions/actions.ts';
import { useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';

/** `localeCompare` makes a collator for each comparison. */
const byName = new Intl.Collator(undefined, { numeric: true });

export function OverviewPanel() {
  const { project, nodes, links, selection, work } = useProject();
  const all = nodes.all.value.toSorted((one, other) => byName.compare(one.name, other.name));
  const running = all.filter(({ status }) => status === 'started').length;
  const failures = work.failures.value;
  return (
    <>
      <header class="panel-head">
        <h2>{project.value?.name ?? ''}</h2>
      </header>
      {project.value?.forked_from && <p class="state">{texts.forkOf(project.value.forked_from.name)}</p>}
      <p class="state">{texts.counts(all.length, running, links.ids.value.length)}</p>
      <div class="button-grid">
        {[
          'start-all',
          'stop-all',
          'project-settings',
          'project-snapshots',
          'project-captures',
          'project-notes',
          'project-activity',
          'project-access',
        ].map((id) => (
          <ActionButton key={id} action={getAction(id)} withLabel kind="plain" />
        ))}
      </div>
      {failures.size > 0 && <Button onClick={() => work.dismissAll()}>{texts.dismissFailures(failures.size)}</Button>}
      <ul class="node-list">
        {all.map(({ node_id, name, status, command_line }) => (
          <li key={node_id}>
            <button type="button" onClick={() => selection.set([node_id])}>
              <span class={`dot ${failures.has(node_id) || problemIn(command_line) ? 'failed' : status}`} />
              <span>{name}</span>
              <small>{work.busy.value.get(node_id) ?? texts.status[status]}</small>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
