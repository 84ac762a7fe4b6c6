/** Takes local files: chosen or dropped. */
import { useSignal } from '@preact/signals';
import { texts } from '../texts.ts';
import { Icon } from './icon.tsx';
import { sizeText } from './progress.tsx';

interface FilePickerProps {
  readonly label: string;
  readonly accept?: string;
  readonly file?: File | undefined;
  /** Called for each of several files. Default: the first counts. */
  readonly multiple?: boolean;
  readonly hint?: string;
  readonly onPick: (file: File) => void;
}

export function FilePicker({ label, accept, file, multiple = false, hint, onPick }: FilePickerProps) {
  const over = useSignal(false);
  const take = (files: FileList | null | undefined) => {
    for (const picked of [...(files ?? [])].slice(0, multiple ? undefined : 1)) onPick(picked);
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
      <input
        type="file"
        accept={accept}
        aria-label={label}
        multiple={multiple}
        onChange={({ currentTarget }) => {
          take(currentTarget.files);
          // The same file may be picked again.
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
