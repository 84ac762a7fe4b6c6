/** Edits a schedule: by a form, or as text for what the form does not show. Files of traces are added to either. */
import { useSignal } from '@preact/signals';
import type { LinkScheduleInput, TraceFormat } from '../../src/schema/schedule.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { ScheduleForm } from './schedule-form.tsx';

interface EditorProps {
  readonly initial: LinkScheduleInput;
  /** @throws the server's refusal */
  readonly run: (schedule: LinkScheduleInput) => Promise<void>;
}

export function ScheduleEditor({ initial, run }: EditorProps) {
  const schedule = useSignal(initial);
  /** Undefined: the form is shown. */
  const text = useSignal<string | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const attempt = async (work: (schedule: LinkScheduleInput) => Promise<void> | void) => {
    failure.value = undefined;
    try {
      await work(text.value === undefined ? schedule.value : parse(text.value));
    } catch (error) {
      failure.value = (error as Error).message;
    }
  };
  const show = (wanted: LinkScheduleInput, asText: boolean) => {
    schedule.value = wanted;
    text.value = asText ? textOf(wanted) : undefined;
  };
  const isText = text.value !== undefined;
  const addTrace = (file: File | undefined) =>
    file &&
    attempt(async (edited) => {
      const content = await file.text();
      const trace = { format: formatOf(content), text: content };
      show({ ...edited, traces: [...(edited.traces ?? []), trace] }, isText);
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(run);
      }}
    >
      <Forms isText={isText} choose={(asText) => attempt((edited) => show(edited, asText))} />
      {text.value === undefined ? (
        <ScheduleForm
          schedule={schedule.value}
          change={(wanted) => {
            schedule.value = wanted;
          }}
        />
      ) : (
        <TextArea text={text.value} change={(wanted) => (text.value = wanted)} />
      )}
      <label class="field wide">
        {texts.schedule.trace}
        <input type="file" onChange={({ currentTarget }) => void addTrace(currentTarget.files?.[0])} />
      </label>
      {(schedule.value.traces?.length ?? 0) > 0 && !isText && (
        <small>{texts.schedule.traces(schedule.value.traces?.length ?? 0)}</small>
      )}
      {failure.value && <Notice level="error">{failure.value}</Notice>}
      <Button submit kind="primary">
        {texts.schedule.save}
      </Button>
    </form>
  );
}

interface FormsProps {
  readonly isText: boolean;
  readonly choose: (asText: boolean) => unknown;
}

const Forms = ({ isText, choose }: FormsProps) => (
  <div class="row">
    {[false, true].map((asText) => (
      <Button key={String(asText)} pressed={isText === asText} onClick={() => isText !== asText && choose(asText)}>
        {asText ? texts.schedule.text : texts.schedule.form}
      </Button>
    ))}
  </div>
);

interface TextAreaProps {
  readonly text: string;
  readonly change: (text: string) => void;
}

const TextArea = ({ text, change }: TextAreaProps) => (
  <label class="field wide">
    {texts.schedule.source}
    <textarea rows={12} spellcheck={false} value={text} onInput={({ currentTarget }) => change(currentTarget.value)} />
  </label>
);

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
