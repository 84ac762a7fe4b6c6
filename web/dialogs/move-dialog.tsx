/** Dialog to choose the compute to which a node moves. The move continues when the dialog is closed. */
import { useSignal } from '@preact/signals';
import type { NodeMigration } from '../../src/schema/move.ts';
import type { Node } from '../../src/schema/node.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField } from '../ui/field.tsx';

interface MoveDialogProps {
  readonly app: App;
  readonly project: ProjectState;
  readonly node: Node;
  readonly close: () => void;
}

export function showMove(app: App, project: ProjectState, node: Node): void {
  app.dialogs.show((close) => <MoveDialog app={app} project={project} node={node} close={close} />);
}

function MoveDialog({ app, project, node, close }: MoveDialogProps) {
  const others = app.server.computes.all.value.filter(
    ({ compute_id, connected }) => compute_id !== node.compute_id && (connected || compute_id === 'local'),
  );
  const target = useSignal(others[0]?.compute_id ?? '');
  return (
    <Dialog
      title={texts.move.title(node.name)}
      close={close}
      onSubmit={() => {
        close();
        void move({ app, project, node }, target.value);
      }}
      footer={
        <>
          <Button onClick={close}>{texts.cancel}</Button>
          <Button kind="primary" submit disabled={target.value === ''}>
            {texts.move.action}
          </Button>
        </>
      }
    >
      <p>{texts.move.explanation}</p>
      <ChoiceField
        label={texts.move.compute}
        value={target.value}
        options={others.map(({ compute_id, name }) => [compute_id, name] as const)}
        onChange={(id) => (target.value = id)}
      />
    </Dialog>
  );
}

/** Moves the node. Progress and failure are shown at the node. */
async function move({ app, project, node }: Omit<MoveDialogProps, 'close'>, compute_id: string): Promise<void> {
  await project.work.run(node.node_id, texts.move.busy, async () => {
    const path = `${project.path}/nodes/${node.node_id}/migrate`;
    const moved = await app.api.post<NodeMigration>(path, { compute_id });
    app.toasts.show('done', texts.move.done(node.name, moved.live ? moved.paused_ms : undefined));
  });
}
