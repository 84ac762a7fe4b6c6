/** Panel of a link: its two ports and its impairments. */
import type { Link, LinkInput } from '../../src/schema/link.ts';
import { ActionButton } from '../actions/action-button.tsx';
import { getAction } from '../actions/actions.ts';
import { linkStates } from '../scene/link-badge.tsx';
import { portName } from '../scene/port-name.ts';
import { beginMove } from '../scene/wiring.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { SwitchField } from '../ui/field.tsx';
import { Lazy } from '../ui/lazy.tsx';

const loadFailure = async () => (await import('./link-failure.tsx')).LinkFailure;
const loadDetails = async () => (await import('../impair/link-details.tsx')).LinkDetails;

export function LinkPanel({ link }: { readonly link: Link }) {
  const app = useApp();
  const { api } = app;
  const project = useProject();
  const failure = project.work.failures.value.get(link.link_id);
  const change = (update: LinkInput) => api.put(`${project.path}/links/${link.link_id}`, update);
  return (
    <>
      <header class="panel-head">
        <h2>{texts.link}</h2>
        {linkStates(link).map((state) => (
          <span key={state} class={`chip ${state}`}>
            {texts.linkState[state]}
          </span>
        ))}
      </header>
      {failure !== undefined && <Lazy load={loadFailure} props={{ link, failure }} />}
      <ul class="plain-list link-ends">
        {link.nodes.map(({ node_id }, end) => {
          const node = project.nodes.find(node_id);
          return (
            node && (
              <li key={node_id}>
                <span class={`dot ${node.status}`} />
                <span>
                  <strong>{node.name}</strong>
                  <small>{portName(node, link, end as 0 | 1)}</small>
                </span>
                <Button
                  icon="wire"
                  kind="quiet"
                  label={texts.moveEndAt(node.name)}
                  onClick={() => beginMove(app, link, end as 0 | 1)}
                />
              </li>
            )
          );
        })}
      </ul>
      <SwitchField
        label={texts.suspendLink}
        hint={texts.suspendLinkHint}
        value={link.suspend}
        onChange={(suspend) => change({ suspend })}
      />
      <div class="button-grid">
        {['capture', link.capturing ? 'stop-capture' : '', 'delete'].filter(Boolean).map((id) => (
          <ActionButton key={id} action={getAction(id)} withLabel kind="plain" />
        ))}
      </div>
      <Lazy load={loadDetails} props={{ link }} />
    </>
  );
}
