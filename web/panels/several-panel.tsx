/** Commands for a selection of several items. */

import { ActionButton } from '../actions/action-button.tsx';
import { actions, actionsAt } from '../actions/actions.ts';
import { useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';

export function SeveralPanel() {
  const { selection, work } = useProject();
  const nodes = selection.nodes.value;
  const failures = work.failures.value;
  return (
    <>
      <header class="panel-head">
        <h2>{texts.selected(nodes.length, selection.links.value.length, selection.drawings.value.length)}</h2>
      </header>
      <div class="button-grid">
        {actionsAt('node')
          .filter(({ group }) => group === 'nodes' || group === 'edit')
          .map((action) => (
            <ActionButton key={action.id} action={action} withLabel kind="plain" />
          ))}
      </div>
      <h3>{texts.alignTitle}</h3>
      <div class="button-grid">
        {actions
          .filter(({ id }) => /^(align|distribute)-/.test(id))
          .map((action) => (
            <ActionButton key={action.id} action={action} withLabel kind="plain" />
          ))}
      </div>
      <ul class="plain-list">
        {nodes.map(({ node_id, name, status }) => (
          <li key={node_id}>
            <span class={`dot ${status}`} />
            <span>
              <strong>{name}</strong>
              <small class={failures.has(node_id) ? 'bad' : ''}>
                {failures.get(node_id) ?? work.busy.value.get(node_id) ?? texts.status[status]}
              </small>
            </span>
            <Button kind="quiet" onClick={() => selection.set([node_id])}>
              {texts.show}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}
