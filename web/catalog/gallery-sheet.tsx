/** The gallery of appliances over a lab: the lab stays, and a template that is made here becomes a node of it. */
import { addNode } from '../scene/add-node.ts';
import { useApp } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Gallery } from './gallery.tsx';

export function GallerySheet({ project, close }: { readonly project: ProjectState; readonly close: () => void }) {
  const app = useApp();
  return (
    <Dialog title={texts.appliances} close={close} wide>
      <Gallery
        addNode={({ template_id }) => {
          close();
          return addNode(app, project, template_id);
        }}
      />
    </Dialog>
  );
}
