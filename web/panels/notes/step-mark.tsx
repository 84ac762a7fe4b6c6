/** A task of the notes: ticked by hand in their text (`- [x]`), or by the check of the lab that has its name. */
import { useComputed } from '@preact/signals';
import { useProject } from '../../state/app.ts';
import { notesTexts } from './notes-texts.ts';

/** `text`: of the task. Its first line, without a colon at the end, is its name. */
function useResult(text: string) {
  const { work } = useProject();
  const name = text.split('\n', 1)[0]?.trim().replace(/:$/, '') ?? '';
  return useComputed(() => work.checks.value?.results.get(name)).value;
}

export function StepMark({ text, isTicked }: { readonly text: string; readonly isTicked: boolean }) {
  const result = useResult(text);
  const isFailed = result?.outcome === 'failed' || result?.outcome === 'error';
  const label = isFailed ? notesTexts.checks.failed(text) : text;
  return (
    <input
      type="checkbox"
      class={isFailed ? 'failed' : ''}
      checked={result ? result.outcome === 'passed' : isTicked}
      disabled
      aria-label={label}
    />
  );
}

/** Why the check of a task does not hold. */
export function StepProblem({ text }: { readonly text: string }) {
  const result = useResult(text);
  if (!result || result.problems.length === 0 || result.outcome === 'passed') return null;
  return <small class="problem">{result.problems.join('; ')}</small>;
}
