/** Takes a local file: chosen or dropped. */
import { useSignal } from '@preact/signals';
import { texts } from '../texts.ts';
import { Icon } from './icon.tsx';
import { sizeText } from './progress.tsx';

interface FilePickerProps {
  readonly label: string;
  readonly accept?: string;
  readonly file: File | undefined;
  readonly onPick: (file: File) => void;
}

export function FilePicker({ label, accept, file, onPick }: FilePickerProps) {
  const over = useSignal(false);
  const take = (files: FileList | null | undefined) => {
    const [first] = files ?? [];
    if (first) onPick(first);
  };
  return (
    <label
      class={over.value ? 'file-picker over' : 'file-picker'}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => {
        over.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        over.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      <input type="file" accept={accept} aria-label={label} onChange={({ currentTarget }) => take(currentTarget.files)} />
      <Icon name="upload" size={22} />
      {file ? (
        <span>
          <strong>{file.name}</strong> · {sizeText(file.size)}
        </span>
      ) : (
        <span>{texts.pickFile(label)}</span>
      )}
    </label>
  );
}
