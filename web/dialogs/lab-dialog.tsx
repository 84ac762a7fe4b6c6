/** Applies a lab file: it is chosen or dropped, its plan is shown as a list and a picture, and carried out with its progress. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { LabApplyLine, LabPlanReply } from '../../src/schema/lab.ts';
import { projectPath } from '../router.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { ChoiceField, SwitchField } from '../ui/field.tsx';
import { FilePicker } from '../ui/file-picker.tsx';
import { Progress } from '../ui/progress.tsx';
import { type LabFileSet, labFileSet, labRequestOf } from './lab-files.ts';
import './lab.css';
import { LabPlanView } from './lab-plan-view.tsx';

export function LabDialog({ close }: { readonly close: () => void }) {
  const app = useApp();
  const files = useSignal<LabFileSet | undefined>(undefined);
  const body = useSignal<object>({});
  const plan = useSignal<LabPlanReply | undefined>(undefined);
  const starts = useSignal(false);
  const applies = useSignal(false);
  const { progress, failure, isOpen, leave, attempt } = useAttempts(close);
  const pick = (picked: LabFileSet | undefined) =>
    attempt(texts.lab.planning, async () => {
      applies.value = false;
      files.value = picked;
      plan.value = undefined;
      if (!picked) return;
      body.value = await labRequestOf(picked);
      plan.value = await app.api.post<LabPlanReply>('/v2/labs/plan', body.value);
    });
  const apply = () =>
    attempt(texts.lab.planning, async () => {
      applies.value = true;
      let last: LabApplyLine = {};
      const onLine = (line: LabApplyLine) => {
        last = line;
        const { step, done = 0, total = 0 } = line;
        if (step) progress.value = { label: texts.lab.progress(step, done, total), part: total > 0 ? done / total : 0 };
      };
      await app.api.lines<LabApplyLine>('/v2/labs/apply', onLine, { ...body.value, start: starts.value });
      if (last.project_id === undefined) throw new Error(last.failure);
      if (!isOpen.current) {
        app.toasts.show('done', texts.lab.applied(files.value?.main.path ?? texts.lab.open));
        return;
      }
      close();
      app.router.go(projectPath(last.project_id));
    });
  const footer = (
    <>
      <Button onClick={leave}>{applies.value && progress.value ? texts.lab.leave : texts.cancel}</Button>
      <Button kind="primary" submit disabled={!plan.value || progress.value !== undefined}>
        {texts.lab.apply}
      </Button>
    </>
  );
  return (
    <Dialog title={texts.lab.title} wide close={leave} onSubmit={apply} footer={footer}>
      <LabFilesField files={files.value} pick={pick} />
      {plan.value && <LabPlanView plan={plan.value} />}
      {plan.value && <SwitchField label={texts.lab.start} value={starts.value} onChange={(value) => (starts.value = value)} />}
      {progress.value && <Progress {...progress.value} />}
      <Failure text={failure.value} />
    </Dialog>
  );
}

interface LabFilesProps {
  readonly files: LabFileSet | undefined;
  readonly pick: (files: LabFileSet | undefined) => void;
}

/** The lab file with those that it names; where several can be the lab file, the user says which. */
function LabFilesField({ files, pick }: LabFilesProps) {
  const { main, candidates = [], all = [] } = files ?? {};
  return (
    <>
      <FilePicker
        label={texts.lab.file}
        file={main?.file}
        onPick={(file) => pick(labFileSet([{ path: file.name, file }]))}
        onPickAll={(picked) => pick(labFileSet(picked))}
      />
      {candidates.length > 1 && (
        <ChoiceField
          label={texts.lab.main}
          value={main?.path ?? ''}
          options={candidates}
          onChange={(path) => pick(labFileSet(all, path))}
        />
      )}
      {all.length > 1 && <p>{texts.lab.others(all.length - 1)}</p>}
    </>
  );
}

/** Runs one request at a time and shows its progress. It continues when the dialog closes; its failure is shown as a toast then. */
function useAttempts(close: () => void) {
  const { toasts } = useApp();
  const progress = useSignal<{ label: string; part?: number } | undefined>(undefined);
  const failure = useSignal('');
  const isOpen = useRef(true);
  const leave = () => {
    isOpen.current = false;
    close();
  };
  const attempt = async (label: string, task: () => Promise<void>) => {
    failure.value = '';
    progress.value = { label };
    await task().catch((error: Error) => {
      if (isOpen.current) failure.value = error.message;
      else toasts.show('error', error.message);
    });
    progress.value = undefined;
  };
  return { progress, failure, isOpen, leave, attempt };
}
