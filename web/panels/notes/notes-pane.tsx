/** The notes of the project beside the canvas: `README.txt` in its folder, which GNS3's clients show, too. */
import '../../style/side-pane.css';
import './notes.css';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError } from '../../api.ts';
import { noText, textOf } from '../../dialogs/config-files.ts';
import { withLineEnds } from '../../dialogs/line-ends.ts';
import { showItems } from '../../scene/show-items.ts';
import { type App, useApp, useProject } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import { texts } from '../../texts.ts';
import { ask } from '../../ui/ask.tsx';
import { Button } from '../../ui/button.tsx';
import { GuideFoot } from './guide-foot.tsx';
import { ItemNames, ItemNamesContext } from './item-names.ts';
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

/** The keyboard scrolls it. */
const scrollable = { tabIndex: 0, role: 'region', 'aria-label': notesTexts.title } as const;

export function NotesPane() {
  const app = useApp();
  const project = useProject();
  const names = useMemo(() => new ItemNames(project), [project]);
  const { stored, draft, isEdited, edit, save } = useNotes(app, project);
  const openNode = (name: string) => () => {
    const id = names.nodes.peek().get(name);
    if (id === undefined) app.toasts.show('info', notesTexts.missing(name));
    else showItems(app, project, [id]);
  };
  return (
    <ItemNamesContext.Provider value={names}>
      <div class="panel-head">
        <h2>{notesTexts.title}</h2>
        <Button
          kind="quiet"
          pressed={isEdited.value}
          disabled={stored.value === undefined}
          icon="edit"
          onClick={() => (isEdited.value = !isEdited.peek())}
        >
          {isEdited.value ? notesTexts.preview : notesTexts.edit}
        </Button>
        {draft.value !== (stored.value ?? '') && (
          <Button kind="primary" onClick={save}>
            {texts.save}
          </Button>
        )}
        <Button icon="close" kind="quiet" label={notesTexts.close} onClick={() => app.tools.toggleSidePane('notes')} />
      </div>
      {stored.value === undefined && <p class="empty">{texts.loading}</p>}
      {stored.value !== undefined && isEdited.value && (
        <label class="notes-field">
          <textarea
            aria-label={notesTexts.text}
            placeholder={notesTexts.empty}
            value={draft.value}
            onInput={({ currentTarget }) => edit(withLineEnds(currentTarget.value, stored.peek() ?? ''))}
          />
          <small>{notesTexts.hint}</small>
        </label>
      )}
      {stored.value !== undefined && !isEdited.value && (
        <div class="notes-text" {...scrollable}>
          <Markdown text={draft.value} openNode={openNode} />
        </div>
      )}
      <GuideFoot />
    </ItemNamesContext.Provider>
  );
}
