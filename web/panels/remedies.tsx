/** Buttons that repair the failure of a node: its image is brought, or it is started again. */
import type { Node } from '../../src/schema/node.ts';
import { runAction } from '../actions/action.ts';
import { getAction } from '../actions/actions.ts';
import { ImageManager } from '../catalog/image-manager.tsx';
import { type App, useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { lacksImage } from './lacks-image.ts';

interface RemediesProps {
  readonly node: Node;
  readonly failure: string;
}

export function Remedies({ node, failure }: RemediesProps) {
  const app = useApp();
  const { work } = useProject();
  return (
    <div class="row">
      {lacksImage(node, failure, work.codes.get(node.node_id)) && (
        <Button icon="upload" onClick={() => showImages(app)}>
          {texts.remedies.image}
        </Button>
      )}
      {node.status === 'stopped' && (
        <Button icon="play" onClick={() => runAction(getAction('start'), app)}>
          {texts.remedies.startAgain}
        </Button>
      )}
    </div>
  );
}

/** The images of the computes, over the lab. */
export const showImages = (app: App) =>
  app.dialogs.show((close) => (
    <Dialog title={texts.images} close={close} wide>
      <ImageManager />
    </Dialog>
  ));
