/** Panel of a node: its state, its commands, its ports, its settings. */
import type { Node, NodeUpdate } from '../../src/schema/node.ts';
import { problemIn } from '../../src/schema/problem-marks.ts';
import { ActionButton } from '../actions/action-button.tsx';
import { actionsAt } from '../actions/actions.ts';
import { impossibleFor } from '../actions/power.ts';
import { tracePacket } from '../actions/trace.ts';
import { configFiles } from '../dialogs/config-paths.ts';
import { renameNode } from '../scene/rename-node.ts';
import { portsOf } from '../scene/wiring.ts';
import { type App, useApp, useProject } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Lazy, showLazily } from '../ui/lazy.tsx';
import { Notice } from '../ui/notice.tsx';
import { findingsFor } from './findings.tsx';

const loadRemedies = async () => (await import('./remedies.tsx')).Remedies;
const loadSettings = async () => (await import('./node-settings.tsx')).NodeSettings;

interface NodeProps {
  readonly node: Node;
}

export function NodePanel({ node }: NodeProps) {
  const app = useApp();
  const project = useProject();
  const { node_id, name, status, node_type } = node;
  const failure = project.work.failures.value.get(node_id);
  const busy = project.work.busy.value.get(node_id);
  const problem = problemIn(node.command_line);
  const isAlways = app.server.kinds.value.get(node_type)?.always_running === true;
  const impossible = impossibleFor(app, node);
  const change = (update: NodeUpdate) => app.api.put(`${project.path}/nodes/${node_id}`, update);
  return (
    <>
      <header class="panel-head">
        <span class={`dot ${status}`} />
        <h2>{name}</h2>
        <span class="chip">{texts.kind[node_type]}</span>
      </header>
      <p class="state">{busy ?? (isAlways ? texts.alwaysRuns : texts.status[status])}</p>
      {failure && (
        <Notice level="error" close={() => project.work.dismiss(node_id)}>
          {failure}
        </Notice>
      )}
      {(failure ?? problem) !== undefined && <Lazy load={loadRemedies} props={{ node, failure: failure ?? problem ?? '' }} />}
      {findingsFor(app, node)}
      <div class="button-grid">
        {actionsAt('node')
          // A trace needs a second node.
          .filter(({ group, id }) => group === 'nodes' && id !== tracePacket.id && !impossible.includes(id))
          .map((action) => (
            <ActionButton key={action.id} action={action} withLabel kind="plain" />
          ))}
      </div>
      {configFiles(app, node).length > 0 && (
        <Button icon="text" onClick={() => openConfig(app, project, node)}>
          {texts.config.open}
        </Button>
      )}
      <TextField
        label={texts.name}
        value={name}
        onChange={(value) => value.trim() !== '' && value !== name && renameNode(app, project, node_id, value.trim())}
      />
      <PortList node={node} />
      <Lazy load={loadSettings} props={{ node, change }} />
      <NodeDetails node={node} />
    </>
  );
}

function PortList({ node }: NodeProps) {
  return (
    <details open>
      <summary>{texts.ports}</summary>
      <ul class="port-list">
        {portsOf(useProject(), node).map(({ port, linkedTo }) => (
          <li key={`${port.adapter_number}/${port.port_number}`}>
            <span class={linkedTo === undefined ? 'port free' : 'port'} />
            <span>{port.name}</span>
            <small>{linkedTo === undefined ? texts.freePort : texts.linkedTo(linkedTo)}</small>
          </li>
        ))}
      </ul>
    </details>
  );
}

function NodeDetails({ node }: NodeProps) {
  const { server } = useApp();
  return (
    <details>
      <summary>{texts.details}</summary>
      <dl class="facts">
        <dt>{texts.consoleAddress}</dt>
        <dd>{node.console === null ? texts.none : `${node.console_type} ${node.console_host}:${node.console}`}</dd>
        <dt>{texts.compute}</dt>
        <dd>{server.computes.find(node.compute_id)?.name ?? node.compute_id}</dd>
        <dt>{texts.folder}</dt>
        <dd class="code">{node.node_directory ?? texts.none}</dd>
        {node.command_line && (
          <>
            <dt>{texts.commandLine}</dt>
            <dd class="code">{node.command_line}</dd>
          </>
        )}
      </dl>
    </details>
  );
}

function openConfig(app: App, project: ProjectState, node: Node): void {
  showLazily(app, async () => {
    const { ConfigDialog } = await import('../dialogs/config-dialog.tsx');
    return (close) => <ConfigDialog project={project} node={node} close={close} />;
  });
}
