/** Import of a project from one file, with its progress. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Project } from '../../src/schema/project.ts';
import { projectPath } from '../router.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { FilePicker } from '../ui/file-picker.tsx';
import { Progress } from '../ui/progress.tsx';

export function ImportDialog({ close }: { readonly close: () => void }) {
  const app = useApp();
  const file = useSignal<File | undefined>(undefined);
  const name = useSignal('');
  const part = useSignal<number | undefined>(undefined);
  const failure = useSignal('');
  const sending = useRef(new AbortController());
  const leave = () => {
    sending.current.abort();
    close();
  };
  const start = async () => {
    if (!file.value) return;
    failure.value = '';
    part.value = 0;
    const path = `/v2/projects/${crypto.randomUUID()}/import?${new URLSearchParams({ name: name.value.trim() })}`;
    try {
      const onProgress = (done: number) => (part.value = done);
      const made = await app.api.upload<Project>(path, { body: file.value, onProgress, signal: sending.current.signal });
      close();
      app.router.go(projectPath(made.project_id));
    } catch (error) {
      failure.value = (error as Error).message;
      part.value = undefined;
    }
  };
  const footer = (
    <>
      <Button onClick={leave}>{texts.cancel}</Button>
      <Button kind="primary" icon="upload" submit disabled={!file.value || part.value !== undefined}>
        {texts.import}
      </Button>
    </>
  );
  return (
    <Dialog title={texts.importProject} close={leave} onSubmit={start} footer={footer}>
      <FilePicker
        label={texts.projectFile}
        accept=".gns3project,.gns3p,.zip"
        file={file.value}
        onPick={(picked) => {
          file.value = picked;
          name.value = picked.name.replace(/\.(gns3project|gns3p|zip)$/i, '');
        }}
      />
      <TextField label={texts.name} value={name.value} onInput={(value) => (name.value = value)} />
      {part.value !== undefined && (
        <Progress label={part.value < 1 ? texts.sending : texts.unpacking} part={part.value < 1 ? part.value : undefined} />
      )}
      <Failure text={failure.value} />
    </Dialog>
  );
}
