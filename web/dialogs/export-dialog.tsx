/** Export of a project as one file, with its progress. */
import { useSignal } from '@preact/signals';
import type { Project } from '../../src/schema/project.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { ChoiceField, SwitchField } from '../ui/field.tsx';
import { Progress, sizeText } from '../ui/progress.tsx';
import { saveFile } from '../ui/save-file.ts';

export function ExportDialog({ project, close }: { readonly project: Project; readonly close: () => void }) {
  const app = useApp();
  const images = useSignal(false);
  const snapshots = useSignal(false);
  const compression = useSignal('zip');
  const received = useSignal<number | undefined>(undefined);
  const failure = useSignal('');
  const start = async () => {
    failure.value = '';
    received.value = 0;
    const query = new URLSearchParams({
      include_images: images.value ? 'yes' : 'no',
      include_snapshots: snapshots.value ? 'yes' : 'no',
      compression: compression.value,
    });
    try {
      const file = await app.api.download(`/v2/projects/${project.project_id}/export?${query}`, (bytes) => {
        received.value = bytes;
      });
      saveFile(file, `${project.name}.gns3project`);
      close();
    } catch (error) {
      failure.value = (error as Error).message;
      received.value = undefined;
    }
  };
  const busy = received.value !== undefined;
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" icon="download" submit disabled={busy}>
        {texts.actions.export}
      </Button>
    </>
  );
  return (
    <Dialog title={texts.exportOf(project.name ?? '')} close={close} onSubmit={start} footer={footer}>
      <SwitchField
        label={texts.withImages}
        hint={texts.withImagesHint}
        value={images.value}
        onChange={(on) => (images.value = on)}
      />
      <SwitchField label={texts.withSnapshots} value={snapshots.value} onChange={(on) => (snapshots.value = on)} />
      <ChoiceField
        label={texts.compression}
        value={compression.value}
        options={[
          ['zip', texts.compressed],
          ['none', texts.uncompressed],
        ]}
        onChange={(value) => (compression.value = value)}
      />
      {busy && <Progress label={texts.exported(sizeText(received.value ?? 0))} />}
      <Failure text={failure.value} />
    </Dialog>
  );
}
