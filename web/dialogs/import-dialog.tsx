/** Import of a project from one file, with its progress; or opening of a project folder on the server, also as a copy. */
import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Project } from '../../src/schema/project.ts';
import { ApiError } from '../api.ts';
import { projectPath } from '../router.ts';
import { type App, useApp } from '../state/app.ts';
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
  const serverPath = useSignal('');
  const part = useSignal<number | undefined>(undefined);
  const failure = useSignal<Error | undefined>(undefined);
  const sending = useRef(new AbortController());
  const leave = () => {
    sending.current.abort();
    close();
  };
  const start = async () => {
    if (!file.value) return load(app, serverPath.value.trim(), { failure, close });
    failure.value = undefined;
    part.value = 0;
    const path = `/v2/projects/${crypto.randomUUID()}/import?${new URLSearchParams({ name: name.value.trim() })}`;
    try {
      const onProgress = (done: number) => (part.value = done);
      const made = await app.api.upload<Project>(path, { body: file.value, onProgress, signal: sending.current.signal });
      close();
      app.router.go(projectPath(made.project_id));
    } catch (error) {
      failure.value = error as Error;
      part.value = undefined;
    }
  };
  const footer = (
    <>
      <Button onClick={leave}>{texts.cancel}</Button>
      <Button
        kind="primary"
        icon="upload"
        submit
        disabled={(!file.value && serverPath.value.trim() === '') || part.value !== undefined}
      >
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
      <ServerProject path={serverPath} failure={failure} isUpload={file.value !== undefined} close={close} />
    </Dialog>
  );
}

interface ServerProjectProps {
  readonly path: Signal<string>;
  readonly failure: Signal<Error | undefined>;
  /** A file of the user is chosen instead. */
  readonly isUpload: boolean;
  readonly close: () => void;
}

/** The path of a project file on the server, why the last request failed, and the offer of a copy where another folder holds the project. */
function ServerProject({ path, failure, isUpload, close }: ServerProjectProps) {
  const app = useApp();
  return (
    <>
      {!isUpload && (
        <TextField
          label={texts.serverProject}
          hint={texts.serverProjectHint}
          value={path.value}
          onInput={(value) => (path.value = value)}
        />
      )}
      <Failure text={failure.value?.message ?? ''} />
      {offersCopy(failure.value) && (
        <Button icon="copy" onClick={() => load(app, path.value.trim(), { failure, close, copy: true })}>
          {texts.loadCopy}
        </Button>
      )}
    </>
  );
}

interface LoadOptions {
  readonly failure: Signal<Error | undefined>;
  readonly close: () => void;
  /** Open a copy with new ids. */
  readonly copy?: true;
}

/** Opens a project by its file on the server. */
async function load(app: App, path: string, { failure, close, copy }: LoadOptions): Promise<void> {
  failure.value = undefined;
  try {
    const made = await app.api.post<Project>('/v2/projects/load', { path, ...(copy && { copy }) });
    close();
    app.router.go(projectPath(made.project_id));
  } catch (error) {
    failure.value = error as Error;
  }
}

/** Whether the server refused the file because another folder holds the same project. */
const offersCopy = (error: Error | undefined) => error instanceof ApiError && error.code === 'project_file_is_copy';
