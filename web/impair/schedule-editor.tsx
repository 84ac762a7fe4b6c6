/** The text of a schedule, and files of traces that are added to it. */
import { useSignal } from '@preact/signals';
import type { LinkScheduleInput, TraceFormat } from '../../src/schema/schedule.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

interface EditorProps {
  readonly initial: LinkScheduleInput;
  /** @throws the server's refusal */
  readonly run: (schedule: LinkScheduleInput) => Promise<void>;
}

export function ScheduleEditor({ initial, run }: EditorProps) {
  const text = useSignal(textOf(initial));
  const failure = useSignal<string | undefined>(undefined);
  const attempt = async (work: (schedule: LinkScheduleInput) => Promise<void>) => {
    failure.value = undefined;
    try {
      await work(parse(text.value));
    } catch (error) {
      failure.value = (error as Error).message;
    }
  };
  const addTrace = (file: File | undefined) =>
    file &&
    attempt(async (schedule) => {
      const content = await file.text();
      const trace = { format: formatOf(content), text: content };
      text.value = textOf({ ...schedule, traces: [...(schedule.traces ?? []), trace] });
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(run);
      }}
    >
      <label class="field wide">
        {texts.schedule.source}
        <textarea
          rows={12}
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
      </label>
      <label class="field wide">
        {texts.schedule.trace}
        <input type="file" onChange={({ currentTarget }) => void addTrace(currentTarget.files?.[0])} />
      </label>
      {failure.value && <Notice level="error">{failure.value}</Notice>}
      <Button submit kind="primary">
        {texts.schedule.save}
      </Button>
    </form>
  );
}

/** Each step and sample in a line of its own. */
function textOf({ steps = [], traces = [], ...timing }: LinkScheduleInput): string {
  const lines = (list: readonly unknown[], indent: string) => list.map((one) => `${indent}${JSON.stringify(one)}`).join(',\n');
  const fields = Object.entries(timing).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  fields.push(steps.length === 0 ? '  "steps": []' : `  "steps": [\n${lines(steps, '    ')}\n  ]`);
  if (traces.length > 0) fields.push(`  "traces": [\n${lines(traces, '    ')}\n  ]`);
  return `{\n${fields.join(',\n')}\n}`;
}

/** Parses the edited schedule. @throws the error of the text, for people */
function parse(text: string): LinkScheduleInput {
  let schedule: LinkScheduleInput | null;
  try {
    schedule = JSON.parse(text) as LinkScheduleInput | null;
  } catch (error) {
    throw new Error(texts.notJson((error as Error).message));
  }
  const { steps = [], traces = [] } = schedule ?? { steps: null };
  if (!Array.isArray(steps) || !Array.isArray(traces) || Array.isArray(schedule)) throw new Error(texts.schedule.notLists);
  return schedule as LinkScheduleInput;
}

/** A line of mahimahi is one whole number. */
function formatOf(content: string): TraceFormat {
  return /^\s*\d+\s*$/.test(content.split('\n', 1)[0] ?? '') ? 'mahimahi' : 'csv';
}
