/** Lines of the notes for the console of a node. They are shown as they will be typed; a button types them. */
import { useComputed } from '@preact/signals';
import type { Node } from '../../../src/schema/node.ts';
import { runAction } from '../../actions/action.ts';
import { getAction } from '../../actions/actions.ts';
import { type App, useApp, useProject } from '../../state/app.ts';
import { until } from '../../state/until.ts';
import { sayWhyNot } from '../../state/why.ts';
import { Button } from '../../ui/button.tsx';
import { useItemNames } from './item-names.ts';
import { notesTexts as texts } from './notes-texts.ts';
import { lineLimits, readTypedLines } from './typed-lines.ts';

export function RunLines({ name, text }: { readonly name: string; readonly text: string }) {
  const { shown, refusal } = readTypedLines(text);
  return (
    <div class="run-lines">
      <pre>{shown}</pre>
      {refusal ? <small>{texts.refused[refusal](lineLimits)}</small> : <RunButton name={name} text={text} />}
    </div>
  );
}

function RunButton({ name, text }: { readonly name: string; readonly text: string }) {
  const app = useApp();
  const project = useProject();
  const names = useItemNames();
  // Only these facts of the node draw the button again.
  const id = useComputed(() => names.nodes.value.get(name)).value;
  const status = useComputed(() => (id === undefined ? undefined : project.nodes.find(id)?.status)).value;
  const node = id === undefined ? undefined : project.nodes.peek(id);
  if (!node || status === undefined) return <small>{texts.missing(name)}</small>;
  if (node.console_type !== 'telnet') return <small>{texts.noConsole(name)}</small>;
  if (status !== 'started') return <StartButton node={node} />;
  const isRefused = !app.server.rights.may('Node.Console', `/projects/${project.id}`);
  const run = () =>
    isRefused ? sayWhyNot(app, 'Node.Console', project.id) : app.toasts.attempt(() => typeAtConsole(app, node, text));
  return (
    <Button icon="terminal" refused={isRefused} onClick={run}>
      {texts.run(name)}
    </Button>
  );
}

function StartButton({ node: { node_id, name } }: { readonly node: Node }) {
  const app = useApp();
  const { selection, work } = useProject();
  const isBusy = useComputed(() => work.busy.value.has(node_id)).value;
  const start = () => {
    selection.set([node_id]);
    runAction(getAction('start'), app);
  };
  return (
    <small>
      {texts.notRunning(name)}{' '}
      <Button icon="play" disabled={isBusy} onClick={start}>
        {texts.start(name)}
      </Button>
    </small>
  );
}

/** Opens the console of a node and types lines at it. The focus stays where it is. Lines for a tab that is closed before it is ready are dropped. */
async function typeAtConsole({ consoles, terminals, project }: App, { node_id }: Node, text: string): Promise<void> {
  const nodes = project.peek()?.nodes;
  consoles.open(node_id);
  consoles.received(node_id);
  const isOpen = () => consoles.panes.value.some(({ active }) => active === node_id) && nodes?.find(node_id)?.status === 'started';
  await until(() => terminals.find(node_id) !== undefined || !isOpen());
  terminals.find(node_id)?.send(`${text.replaceAll('\n', '\r')}\r`);
}
