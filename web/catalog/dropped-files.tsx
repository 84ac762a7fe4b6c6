/** Files dropped on the canvas: an appliance, or an image, becomes a template and a node. */
import type { Template } from '../../src/schema/template.ts';
import type { Point } from '../geometry/geometry.ts';
import { addNode } from '../scene/add-node.ts';
import type { App } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { ApplianceWizard } from './appliance-wizard.tsx';
import { findByChecksum, readAppliances } from './catalog.ts';
import { catalogTexts } from './catalog-texts.ts';
import { kindByContent } from './image-kind.ts';
import { ImageTemplate } from './image-template.tsx';
import { md5Of } from './md5.ts';
import { takeApplianceFile } from './take-appliance.ts';

/** `at`: in the window. */
export async function takeDroppedFiles(app: App, project: ProjectState, files: readonly File[], at: Point): Promise<void> {
  for (const file of files) await app.toasts.attempt(() => takeFile(app, project, file, at));
}

async function takeFile(app: App, project: ProjectState, file: File, at: Point): Promise<void> {
  const created = ({ template_id }: Template) => addNode(app, project, template_id, at);
  const appliance = await takeApplianceFile(app, file);
  if (appliance) {
    app.dialogs.show((close) => <ApplianceWizard appliance={appliance} close={close} created={created} addsNode />);
    return;
  }
  app.toasts.show('info', catalogTexts.dropped.reading(file.name));
  const [md5sum, appliances] = await Promise.all([md5Of(file, () => undefined), readAppliances(app)]);
  const found = findByChecksum(app, appliances, md5sum);
  if (found) {
    const { appliance: known } = found;
    app.dialogs.show((close) => <ApplianceWizard appliance={known} files={[file]} close={close} created={created} addsNode />);
    return;
  }
  const kind = await kindByContent(app, file);
  app.dialogs.show((close) => <ImageTemplate file={file} md5sum={md5sum} kind={kind} close={close} created={created} />);
}
