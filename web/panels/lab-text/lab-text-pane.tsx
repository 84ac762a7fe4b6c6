/** The open lab as text beside the canvas: it follows the lab, and what is typed there is planned and applied to it. */
import type { CompletionSource } from '@codemirror/autocomplete';
import { effect, untracked, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { LabPlanView } from '../../dialogs/lab-plan-view.tsx';
import { PlanGhosts } from '../../scene/plan-ghosts.tsx';
import { useApp, useProject } from '../../state/app.ts';
import { sayWhyNot } from '../../state/why.ts';
import { labText as words } from '../../texts/lab-text.ts';
import { texts } from '../../texts.ts';
import { ask } from '../../ui/ask.tsx';
import { Button } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy-text.ts';
import { Progress } from '../../ui/progress.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { completeLab } from './complete-lab.ts';
import { LabEditor } from './lab-editor.ts';
import { LabSession } from './lab-session.ts';
import '../../dialogs/lab.css';
import '../../style/ghosts.css';
import '../../style/side-pane.css';
import './lab-text.css';

export function LabTextPane() {
  const app = useApp();
  const project = useProject();
  const session = useMemo(() => new LabSession(app, project), [app, project]);
  useEffect(() => () => session.end(), [session]);
  const apply = useApply(session);
  const editor = useRef<LabEditor | undefined>(undefined);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current) return undefined;
    const { view, end } = connect(place.current, { session, apply, project, complete: completeLab(app, project) });
    editor.current = view;
    return end;
  }, [app, project, session, apply]);
  useGhosts(session);
  return (
    <>
      <Head session={session} />
      <div ref={place} class="lab-editor" />
      <Foot session={session} apply={apply} editor={editor} />
    </>
  );
}

interface Connection {
  readonly session: LabSession;
  readonly apply: () => Promise<void>;
  readonly project: ReturnType<typeof useProject>;
  readonly complete: CompletionSource;
}

/** Connects an editor with the session and the selection of the canvas. */
function connect(place: HTMLElement, { session, apply, project, complete }: Connection) {
  const { selection } = project;
  /** The selection that the cursor made: the editor does not scroll to it. */
  let own: ReadonlySet<string> | undefined;
  /** The selection has no lines that are known yet. */
  let isAwaited = true;
  const onItems = (ids: readonly string[]) => {
    const now = selection.ids.peek();
    if (ids.length === now.size && ids.every((id) => now.has(id))) return;
    selection.set(ids.filter((id) => project.nodes.peek(id) ?? project.links.peek(id)));
  };
  const events = {
    onText: (text: string) => session.type(text),
    onItems: (ids: readonly string[]) => {
      own = new Set(ids);
      onItems(ids);
    },
    onApply: () => void apply(),
    onFocus: () => session.readSoon(),
  };
  const view = new LabEditor(place, events, complete);
  const stops = [
    effect(() => view.show(session.typed.value)),
    effect(() => view.setError(session.error.value)),
    effect(() => {
      const plan = session.plan.value;
      if (plan?.text !== view.text) return;
      view.setItems(plan.reply.lines);
      if (isAwaited) isAwaited = !view.mark(selection.ids.peek(), true);
    }),
    effect(() => {
      const ids = selection.ids.value;
      const isOwn = own !== undefined && own.size === ids.size && [...ids].every((id) => own?.has(id));
      isAwaited = !view.mark(ids, !isOwn) && !isOwn;
      if (!isOwn) own = undefined;
    }),
  ];
  const end = () => {
    for (const stop of stops) stop();
    view.end();
  };
  return { view, end };
}

/** Applies the text; before nodes are deleted with their files, it asks. */
function useApply(session: LabSession): () => Promise<void> {
  const app = useApp();
  const project = useProject();
  return useMemo(
    () => async () => {
      if (!mayApply(session)) return;
      if (!app.server.rights.may('Node.Modify', `/projects/${project.id}`)) return void sayWhyNot(app, 'Node.Modify', project.id);
      const lost = session.plan
        .peek()
        ?.reply.steps.filter(({ what, action }) => what === 'node' && (action === 'delete' || action === 'replace'));
      const running = lost?.filter(({ id = '' }) => project.nodes.peek(id)?.status !== 'stopped') ?? [];
      const names = running.map(({ name }) => name).join(', ');
      if (running.length > 0 && !(await ask(app, { ...words.askLoss(names), danger: true }))) return;
      await app.toasts.attempt(async () => {
        await session.apply();
        app.toasts.show('done', words.applied);
      });
    },
    [app, project, session],
  );
}

/** Whether the text was planned as it is, and the plan has a change. */
const mayApply = ({ plan, typed, progress }: LabSession): boolean =>
  progress.value === undefined && plan.value?.text === typed.value && plan.value.reply.steps.length > 0;

/** Shows the plan of an edited text on the canvas. */
function useGhosts(session: LabSession): void {
  const { tools } = useApp();
  useSignalEffect(() => {
    const plan = session.isEdited.value && !session.progress.value ? session.plan.value?.reply : undefined;
    untracked(() => {
      tools.ghosts.value = plan && plan.steps.length > 0 ? () => <PlanGhosts plan={plan} /> : undefined;
    });
  });
  useEffect(
    () => () => {
      tools.ghosts.value = undefined;
    },
    [tools],
  );
}

function Head({ session }: { readonly session: LabSession }) {
  const { tools, toasts } = useApp();
  const { project } = useProject();
  const copy = () => {
    const field = document.createElement('textarea');
    field.value = session.typed.peek();
    const before = document.activeElement;
    document.body.append(field);
    const isCopied = copyText(field);
    field.remove();
    if (before instanceof HTMLElement) before.focus();
    toasts.show(isCopied ? 'done' : 'error', isCopied ? words.copied : words.notCopied);
  };
  const download = () =>
    saveFile(new Blob([session.typed.peek()], { type: 'application/yaml' }), `${project.value?.name ?? 'lab'}.yaml`);
  return (
    <div class="panel-head">
      <h2>{texts.actions.labText}</h2>
      <Button icon="copy" kind="quiet" label={words.copy} onClick={copy} />
      <Button icon="download" kind="quiet" label={words.download} onClick={download} />
      <Button icon="close" kind="quiet" label={words.close} onClick={() => tools.toggleSidePane('lab-text')} />
    </div>
  );
}

interface FootProps {
  readonly session: LabSession;
  readonly apply: () => Promise<void>;
  readonly editor: { readonly current: LabEditor | undefined };
}

function Foot({ session, apply, editor }: FootProps) {
  const app = useApp();
  const { error, plan, progress, isEdited, isBehind } = session;
  const merge = () =>
    app.toasts.attempt(async () => {
      if (!(await session.merge())) app.toasts.show('error', words.conflict);
    });
  const failure = error.value;
  const reply = isEdited.value ? plan.value?.reply : undefined;
  return (
    <div class="lab-text-foot">
      {failure && (
        <div class="failure" role="alert">
          {failure.line !== undefined && <Button onClick={() => editor.current?.goTo(failure)}>{words.line(failure.line)}</Button>}
          <span>{failure.message}</span>
        </div>
      )}
      <p class="lab-text-state" role="status">
        {stateOf(session)}
      </p>
      {isBehind.value && <p class="lab-text-behind">{words.behind}</p>}
      {progress.value && <Progress {...progress.value} />}
      {reply && reply.steps.length > 0 && (
        <details open>
          <summary>{words.plan(reply.steps.length)}</summary>
          <LabPlanView plan={reply} isOnCanvas />
        </details>
      )}
      {isEdited.value && (
        <div class="row">
          <Button onClick={() => session.discard()} disabled={progress.value !== undefined}>
            {words.discard}
          </Button>
          {isBehind.value && <Button onClick={merge}>{words.merge}</Button>}
          <Button kind="primary" disabled={!mayApply(session)} onClick={() => void apply()}>
            {words.apply}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Says how the text differs from the lab. */
function stateOf({ base, isEdited, error, plan, typed, progress }: LabSession): string {
  if (base.value === undefined) return error.value ? '' : words.reading;
  if (!isEdited.value) return words.same;
  if (error.value || progress.value) return '';
  if (plan.value?.text !== typed.value) return words.checking;
  return plan.value.reply.steps.length === 0 ? words.kept : '';
}
