/** Known problems of a node before it is started. */
import type { ComponentChildren } from 'preact';
import type { Node } from '../../src/schema/node.ts';
import { problemIn } from '../../src/schema/problem-marks.ts';
import type { App } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { showLazily } from '../ui/lazy.tsx';
import { Notice } from '../ui/notice.tsx';
import { NodeFindings } from './doctor.tsx';

/** Why a machine of another program does not start here, and what to do. */
function NotDriven({ app, node }: { readonly app: App; readonly node: Node }) {
  return (
    <>
      <Notice level="warning">{texts.convert.why(texts.kind[node.node_type])}</Notice>
      <Button icon="copy" onClick={() => openConvert(app, node)}>
        {texts.convert.offer}
      </Button>
    </>
  );
}

function openConvert(app: App, node: Node): void {
  showLazily(app, async () => {
    const { ConvertNode } = await import('./convert-dialog.tsx');
    return (close) => <ConvertNode node={node} close={close} />;
  });
}

export function findingsFor(app: App, node: Node): ComponentChildren {
  const compute = app.server.computes.find(node.compute_id);
  if (!compute) return <Notice level="warning">{texts.computeUnknown(node.compute_id)}</Notice>;
  if (!compute.connected) return <Notice level="warning">{texts.computeAway(compute.name, compute.last_error ?? '')}</Notice>;
  const problem = problemIn(node.command_line);
  return (
    <>
      {problem !== undefined && <Notice level="warning">{problem}</Notice>}
      {app.server.canConvert(node.node_type) && node.status === 'stopped' ? (
        <NotDriven app={app} node={node} />
      ) : (
        !compute.capabilities.node_types.includes(node.node_type) && (
          <Notice level="warning">{texts.kindMissing(texts.kind[node.node_type], compute.name)}</Notice>
        )
      )}
      <NodeFindings computeId={compute.compute_id} nodeType={node.node_type} isRunning={node.status !== 'stopped'} />
    </>
  );
}
