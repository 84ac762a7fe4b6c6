/** A start-up configuration or another file of a node: view, edit, upload, download, compare with the version before. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Node } from '../../src/schema/node.ts';
import { useApp } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SwitchField, TextField } from '../ui/field.tsx';
import { FilePicker } from '../ui/file-picker.tsx';
import { type ConfigContent, useConfigFile } from './config-files.ts';
import { configFiles } from './config-paths.ts';
import { DiffView } from './diff-view.tsx';
import { withLineEnds } from './line-ends.ts';

export interface ConfigDialogProps {
  readonly project: ProjectState;
  readonly node: Node;
  readonly close: () => void;
}

export function ConfigDialog({ project, node, close }: ConfigDialogProps) {
  const app = useApp();
  const { path, content, addressOf, write } = useConfigFile(app, project, node);
  const text = useSignal('');
  const now = content.value;
  const draft = `${node.node_id} ${path.value}`;
  useEffect(() => {
    text.value = now?.isBinary ? '' : (project.drafts.of(draft) ?? now?.stored ?? '');
  }, [now]);
  const change = (value: string) => {
    text.value = value;
    project.drafts.set(draft, value === (now?.stored ?? '') ? undefined : value);
  };
  const isEdited = now !== undefined && !now.isBinary && text.value !== (now.stored ?? '');
  const footer = (
    <>
      <small class="grow">{isEdited ? texts.config.notSaved : node.status !== 'stopped' && texts.config.nextStart}</small>
      {now?.stored !== undefined && (
        <a class="button" href={addressOf(path.value)} download={path.value.split('/').at(-1)}>
          {texts.download}
        </a>
      )}
      {isEdited && <Button onClick={() => change(now.stored ?? '')}>{texts.config.discard}</Button>}
      <Button onClick={close}>{texts.close}</Button>
      <Button kind="primary" submit disabled={!isEdited}>
        {texts.save}
      </Button>
    </>
  );
  const replace = (body: Blob) => write(body, () => project.drafts.set(draft, undefined));
  const save = () => {
    const saved = text.value;
    // Text that was typed during the request is not saved, and stays a draft.
    const forget = () => project.drafts.of(draft) === saved && project.drafts.set(draft, undefined);
    return isEdited && write(new Blob([saved]), forget);
  };
  return (
    <Dialog title={texts.config.of(node.name)} close={close} onSubmit={save} footer={footer} wide>
      <TextField
        label={texts.config.file}
        hint={texts.config.fileHint}
        value={path.value}
        options={configFiles(app, node)}
        onChange={(value) => (path.value = value.trim().replace(/^\/+/, ''))}
      />
      {now && <ConfigText content={now} text={text.value} change={(value) => change(withLineEnds(value, now.stored ?? ''))} />}
      {now && <FilePicker label={texts.config.upload} onPick={replace} />}
    </Dialog>
  );
}

interface ConfigTextProps {
  readonly content: ConfigContent;
  readonly text: string;
  readonly change: (text: string) => void;
}

function ConfigText({ content: { stored, previous, isBinary }, text, change }: ConfigTextProps) {
  const compares = useSignal(false);
  if (isBinary) return <p class="empty">{texts.config.binary}</p>;
  // Unsaved changes are compared with the file, the file with its previous version.
  const before = text === (stored ?? '') ? previous : stored;
  return (
    <>
      {stored === undefined && <p class="empty">{texts.config.missing}</p>}
      {before !== undefined && (
        <SwitchField label={texts.config.compare} value={compares.value} onChange={(isOn) => (compares.value = isOn)} />
      )}
      {compares.value && before !== undefined ? (
        <DiffView before={before} after={text} />
      ) : (
        <textarea
          class="code config-text"
          aria-label={texts.config.content}
          rows={16}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
    </>
  );
}
