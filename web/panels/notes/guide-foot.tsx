/** The checks of a guided lab: a button runs them on the lab as it runs, and their results tick the steps of the notes. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LabCheckLine } from '../../../src/schema/lab.ts';
import { ActionButton } from '../../actions/action-button.tsx';
import { getAction } from '../../actions/actions.ts';
import { ApiError } from '../../api.ts';
import { noText, textOf } from '../../dialogs/config-files.ts';
import { type App, useApp, useProject } from '../../state/app.ts';
import { type CheckResult, type GuideRun, withLine } from '../../state/guide-run.ts';
import type { ProjectState } from '../../state/project.ts';
import { Button } from '../../ui/button.tsx';
import { notesTexts } from './notes-texts.ts';
import { readTypedLines } from './typed-lines.ts';

/** Longer lab files are not offered: what they do is shown in full. Characters. */
const longest = 60_000;
const texts = notesTexts.checks;

export function GuideFoot() {
  const app = useApp();
  const project = useProject();
  const lab = useSignal<string | undefined>(undefined);
  useEffect(
    () =>
      void app.toasts.attempt(async () => {
        lab.value = await readLab(app, project);
      }),
    [app, project],
  );
  const isIdle = useComputed(() => project.nodes.all.value.some(({ status }) => status !== 'started')).value;
  const text = lab.value;
  if (text === undefined) return null;
  const run = project.work.checks.value;
  const failed = [...(run?.results.values() ?? [])].find(isFailed);
  return (
    <footer class="notes-foot">
      <p role="status">{wordsOf(run)}</p>
      {failed && <p class="problem">{texts.problem(failed.name, failed.problems)}</p>}
      {run?.why && <p class="problem">{run.why}</p>}
      <details>
        <summary>{texts.what}</summary>
        <pre>{readTypedLines(text).shown}</pre>
      </details>
      <div class="row">
        {isIdle && <ActionButton action={getAction('start-all')} withLabel kind="plain" />}
        <Button kind="primary" icon="check" disabled={run?.isRunning === true} onClick={() => void check(app, project, text)}>
          {texts.check}
        </Button>
      </div>
    </footer>
  );
}

const isFailed = ({ outcome }: CheckResult) => outcome === 'failed' || outcome === 'error';

function wordsOf(run: GuideRun | undefined): string {
  if (!run) return texts.ready;
  const passed = [...run.results.values()].filter(({ outcome }) => outcome === 'passed').length;
  const { steps, results, isRunning, verdict } = run;
  if (isRunning) return texts.running(results.size, steps.length, steps[results.size] ?? '');
  if (verdict === 'void') return texts.void(passed, steps.length);
  return verdict === undefined ? texts.ended : texts.passed(passed, steps.length);
}

/** Reads `lab.yaml` of the project; undefined: it has none that can be offered. */
async function readLab({ api }: App, { path }: ProjectState): Promise<string | undefined> {
  const file = await api.stream(`${path}/files/lab.yaml`, new AbortController().signal).catch((error: Error) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  const text = file && (await textOf(file));
  return text === undefined || text === noText || text.length > longest ? undefined : text;
}

async function check({ api }: App, { path, work: { checks } }: ProjectState, lab: string): Promise<void> {
  checks.value = { isRunning: true, steps: [], results: new Map() };
  const change = (to: (run: GuideRun) => GuideRun) => {
    if (checks.peek()) checks.value = to(checks.peek() as GuideRun);
  };
  try {
    await api.lines<LabCheckLine>(`${path}/checks`, (line) => change((run) => withLine(run, line)), { lab });
  } catch (error) {
    change((run) => ({ ...run, why: (error as Error).message }));
  }
  change((run) => ({ ...run, isRunning: false }));
}
