/** Uploads an image file to the compute, with progress. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { FilePicker } from '../ui/file-picker.tsx';
import { Progress } from '../ui/progress.tsx';
import { catalogTexts } from './catalog-texts.ts';
import { type ImageFile, imagesPath } from './images.ts';

interface ImageUploadProps {
  readonly nodeType: string;
  readonly computeId?: string;
  readonly uploaded: (name: string) => unknown;
}

export function ImageUpload({ nodeType, computeId = 'local', uploaded }: ImageUploadProps) {
  const app = useApp();
  const { api, toasts } = app;
  const file = useSignal<File | undefined>(undefined);
  const part = useSignal<number | undefined>(undefined);
  const sending = useRef(new AbortController());
  const send = async (picked: File) => {
    file.value = picked;
    part.value = 0;
    sending.current = new AbortController();
    const images = imagesPath(computeId, nodeType);
    const path = `${images}/${encodeURIComponent(picked.name)}`;
    const onProgress = (done: number) => (part.value = done);
    await toasts.attempt(async () => {
      const isTaken = (await api.get<readonly ImageFile[]>(images)).some(({ filename }) => filename === picked.name);
      if (isTaken && !(await ask(app, { ...catalogTexts.askReplace(picked.name), danger: true }))) return;
      await api.upload(path, { body: picked, onProgress, signal: sending.current.signal });
      toasts.show('done', texts.imageUploaded(picked.name));
      await uploaded(picked.name);
    });
    part.value = undefined;
    file.value = undefined;
  };
  return (
    <div class="upload">
      <FilePicker label={texts.imageFile} file={file.value} onPick={send} />
      {part.value !== undefined && (
        <div class="row">
          <Progress label={texts.sending} part={part.value} />
          <Button onClick={() => sending.current.abort()}>{texts.cancel}</Button>
        </div>
      )}
    </div>
  );
}
