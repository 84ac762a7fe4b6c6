/** Takes a local file, or several: chosen or dropped. */
import { useSignal } from '@preact/signals';
import { texts } from '../texts.ts';
import { Icon } from './icon.tsx';
import { chosenFiles, droppedFiles, type PickedFile } from './picked-files.ts';
import { sizeText } from './progress.tsx';

interface FilePickerProps {
  readonly label: string;
  readonly accept?: string;
  readonly file: File | undefined;
  readonly onPick: (file: File) => void;
  /** In place of `onPick`: several files, and folders that are dropped. Never empty. */
  readonly onPickAll?: (files: readonly PickedFile[]) => void;
}

export function FilePicker({ label, accept, file, onPick, onPickAll }: FilePickerProps) {
  const over = useSignal(false);
  const take = (files: readonly PickedFile[]) => {
    const [first] = files;
    if (first && onPickAll) onPickAll(files);
    else if (first) onPick(first.file);
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
        const { dataTransfer } = event;
        if (onPickAll) void droppedFiles(dataTransfer).then(take);
        else take(chosenFiles(dataTransfer?.files ?? null));
      }}
    >
      <input
        type="file"
        accept={accept}
        multiple={onPickAll !== undefined}
        aria-label={label}
        onChange={({ currentTarget }) => take(chosenFiles(currentTarget.files))}
      />
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
