/** Takes local files: chosen or dropped. */
import { useSignal } from '@preact/signals';
import { texts } from '../texts.ts';
import { Icon } from './icon.tsx';
import { chosenFiles, droppedFiles, type PickedFile } from './picked-files.ts';
import { sizeText } from './progress.tsx';

interface FilePickerProps {
  readonly label: string;
  readonly accept?: string;
  readonly file?: File | undefined;
  /** Called for each of several files. Default: the first counts. */
  readonly multiple?: boolean;
  readonly hint?: string;
  readonly onPick: (file: File) => void;
  /** Receives several files instead of `onPick`, and the files of dropped folders. Never empty. */
  readonly onPickAll?: (files: readonly PickedFile[]) => void;
}

export function FilePicker({ label, accept, file, multiple = false, hint, onPick, onPickAll }: FilePickerProps) {
  const over = useSignal(false);
  const take = (files: readonly PickedFile[]) => {
    if (onPickAll && files.length > 0) onPickAll(files);
    else for (const picked of files.slice(0, multiple ? undefined : 1)) onPick(picked.file);
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
        aria-label={label}
        multiple={multiple || onPickAll !== undefined}
        onChange={({ currentTarget }) => {
          take(chosenFiles(currentTarget.files));
          // Browsers send no event when the same file is picked again, unless the value was cleared.
          if (multiple) currentTarget.value = '';
        }}
      />
      <Icon name="upload" size={22} />
      {file ? (
        <span>
          <strong>{file.name}</strong> · {sizeText(file.size)}
        </span>
      ) : (
        <span>{multiple ? texts.pickFiles(label) : texts.pickFile(label)}</span>
      )}
      {hint && <small>{hint}</small>}
    </label>
  );
}
