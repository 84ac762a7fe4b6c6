/** The notes of the project: `README.txt` in its folder, which GNS3's clients show, too. */
import './notes.css';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api.ts';
import { type App, useApp } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { noText, textOf } from './config-files.ts';
import { withLineEnds } from './line-ends.ts';
import { Markdown } from './markdown.tsx';
import { notesTexts } from './notes-texts.ts';

/** Notes that are not saved, and the stored text that they were made of. */
function notesDraft({ drafts }: ProjectState): { readonly text: string; readonly base: string } | undefined {
  const draft = drafts.of('notes');
  return draft === undefined ? undefined : JSON.parse(draft);
}

/** The file and its edited text. */
function useNotes(app: App, project: ProjectState) {
  const address = `${project.path}/files/README.txt`;
  /** Stored text; undefined while it is loading. */
  const stored = useSignal<string | undefined>(undefined);
  const draft = useComputed(() => notesDraft(project)?.text ?? stored.value ?? '');
  const isEdited = useSignal(false);
  const read = async (): Promise<string> => {
    const file = await app.api.stream(address, new AbortController().signal).catch((error: Error) => {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    });
    const text = file ? await textOf(file) : '';
    if (text === noText) throw new Error(notesTexts.binary);
    return text;
  };
  useEffect(
    () =>
      void app.toasts.attempt(async () => {
        stored.value = await read();
        isEdited.value = draft.peek().trim() === '' || notesDraft(project) !== undefined;
      }),
    [],
  );
  const edit = (text: string) => {
    const base = notesDraft(project)?.base ?? stored.peek() ?? '';
    project.drafts.set('notes', text === stored.peek() ? undefined : JSON.stringify({ text, base }));
  };
  const save = () =>
    app.toasts.attempt(async () => {
      const base = notesDraft(project)?.base;
      if (base !== undefined && (await read()) !== base && !(await ask(app, notesTexts.changed))) return;
      const text = draft.peek();
      await app.api.upload(address, { body: new Blob([text]) });
      stored.value = text;
      project.drafts.set('notes', undefined);
      isEdited.value = false;
      app.toasts.show('done', notesTexts.saved);
    });
  return { stored, draft, isEdited, edit, save };
}

export function NotesDialog({ project, close }: { readonly project: ProjectState; readonly close: () => void }) {
  const app = useApp();
  const { stored, draft, isEdited, edit, save } = useNotes(app, project);
  const openNode = (name: string) => {
    const node = project.nodes.all.peek().find((one) => one.name === name);
    return () => {
      if (!node) {
        app.toasts.show('info', notesTexts.missing(name));
        return;
      }
      project.selection.set([node.node_id]);
      close();
    };
  };
  const footer = (
    <>
      <Button
        pressed={isEdited.value}
        disabled={stored.value === undefined}
        icon="edit"
        onClick={() => (isEdited.value = !isEdited.peek())}
      >
        {isEdited.value ? notesTexts.preview : notesTexts.edit}
      </Button>
      <span class="grow" />
      <Button onClick={close}>{texts.close}</Button>
      <Button kind="primary" disabled={draft.value === stored.value} onClick={save}>
        {texts.save}
      </Button>
    </>
  );
  return (
    <Dialog title={notesTexts.title} close={close} wide scrolls={!isEdited.value} footer={footer}>
      {stored.value === undefined && <p class="empty">{texts.loading}</p>}
      {stored.value !== undefined && isEdited.value && (
        <label class="notes-field">
          <textarea
            aria-label={notesTexts.text}
            placeholder={notesTexts.empty}
            rows={18}
            value={draft.value}
            onInput={({ currentTarget }) => edit(withLineEnds(currentTarget.value, stored.peek() ?? ''))}
          />
          <small>{notesTexts.hint}</small>
        </label>
      )}
      {stored.value !== undefined && !isEdited.value && <Markdown text={draft.value} openNode={openNode} />}
    </Dialog>
  );
}
