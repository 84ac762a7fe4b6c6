/** The capture files of a project: open, download, delete. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { CaptureFile } from '../../src/schema/capture.ts';
import { useApp } from '../state/app.ts';
import { captureFileTab } from '../state/console-dock.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { sizeText } from '../ui/progress.tsx';
import { saveFile } from '../ui/save-file.ts';
import { analysisTexts } from './analysis/analysis-texts.ts';
import { captureFilePath, openDock } from './capture-files.ts';
import { type TarEntry, tarOf } from './tar.ts';

const factsOf = ({ size, modified, capturing }: CaptureFile) =>
  [
    capturing && texts.capture.capturing,
    size === null ? texts.capture.remoteFile : sizeText(size),
    modified && new Date(modified).toLocaleString(),
  ]
    .filter(Boolean)
    .join(' · ');

export function CapturesDialog({ project, close }: { readonly project: ProjectState; readonly close: () => void }) {
  const app = useApp();
  const { api } = app;
  const list = useSignal<readonly CaptureFile[] | undefined>(undefined);
  const read = async () => {
    list.value = await api.get<CaptureFile[]>(`${project.path}/captures`);
  };
  useEffect(() => void app.toasts.attempt(read), []);
  const remove = ({ name }: CaptureFile) =>
    app.toasts.attempt(async () => {
      if (!(await ask(app, { ...texts.capture.askDelete(name), danger: true }))) return;
      await api.delete(captureFilePath(project, name));
      await read();
    });
  const open = ({ name }: CaptureFile) => {
    openDock(app, captureFileTab(name));
    close();
  };
  const files = list.value ?? [];
  return (
    <Dialog title={texts.capture.files} close={close} footer={files.length > 1 && <DownloadAll project={project} files={files} />}>
      {!list.value && <p class="empty">{texts.loading}</p>}
      {list.value?.length === 0 && <p class="empty">{texts.capture.noFiles}</p>}
      <ul class="plain-list">
        {list.value?.map((file) => (
          <li key={file.name}>
            <span>
              <strong>{file.name}</strong>
              <small>{factsOf(file)}</small>
            </span>
            <Button onClick={() => open(file)}>{texts.open}</Button>
            <a
              class="button quiet"
              href={captureFilePath(project, file.name)}
              download={file.name}
              aria-label={texts.downloadNamed(file.name)}
            >
              {texts.download}
            </a>
            <Button
              icon="trash"
              kind="quiet"
              label={texts.deleteNamed(file.name)}
              disabled={file.capturing || file.size === null}
              onClick={() => remove(file)}
            />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** The browser keeps an archive in memory until it is saved. Bytes. */
const largestArchive = 1024 ** 3;

/** All files as one archive. */
function DownloadAll({ project, files }: { readonly project: ProjectState; readonly files: readonly CaptureFile[] }) {
  const { api, toasts } = useApp();
  const packed = useSignal<number | undefined>(undefined);
  const download = () =>
    toasts.attempt(async () => {
      const entries: TarEntry[] = [];
      let before = 0;
      const count = (bytes: number) => {
        if (before + bytes > largestArchive) throw new Error(analysisTexts.files.tooLarge(sizeText(largestArchive)));
      };
      try {
        count(files.reduce((sum, { size }) => sum + (size ?? 0), 0));
        for (const { name, modified } of files) {
          packed.value = entries.length;
          const content = await api.download(captureFilePath(project, name), count);
          before += content.size;
          entries.push({ name, content, modifiedMs: modified ? Date.parse(modified) : Date.now() });
        }
        saveFile(tarOf(entries), `${project.project.peek()?.name ?? ''} captures.tar`.trim());
      } finally {
        packed.value = undefined;
      }
    });
  return (
    <Button icon="download" disabled={packed.value !== undefined} onClick={download}>
      {packed.value === undefined ? analysisTexts.files.downloadAll : analysisTexts.files.packing(packed.value, files.length)}
    </Button>
  );
}
