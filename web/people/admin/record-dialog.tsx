/** A dialog with the fields of a record: every form of the administration is a table of fields. */
import { useSignal } from '@preact/signals';
import type { App } from '../../state/app.ts';
import { texts } from '../../texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/failure.tsx';
import { ChoiceField, SwitchField, TextField } from '../../ui/field.tsx';

export interface RecordField {
  readonly name: string;
  readonly label: string;
  readonly kind?: 'text' | 'secret' | 'switch';
  readonly hint?: string;
  /** A choice; a function is given the other values. */
  readonly choices?:
    | readonly (readonly [value: string, label: string])[]
    | ((values: RecordValues) => readonly (readonly [string, string])[]);
  /** Suggestions for a text. */
  readonly options?: readonly string[];
  readonly isOptional?: boolean;
}

export type RecordValues = Readonly<Record<string, string | boolean>>;

interface RecordForm {
  readonly title: string;
  readonly yes: string;
  /** A function is asked again when a signal that it reads changes, as a list that arrives while the dialog is open. */
  readonly fields: readonly RecordField[] | (() => readonly RecordField[]);
  readonly values?: RecordValues;
  /** A rejection is shown in the dialog, which stays open. */
  readonly submit: (values: RecordValues) => Promise<unknown>;
}

export function showRecord(app: App, form: RecordForm): void {
  app.dialogs.show((close) => <RecordDialog {...form} close={close} />);
}

function RecordDialog({
  title,
  yes,
  fields: list,
  values: given = {},
  submit,
  close,
}: RecordForm & { readonly close: () => void }) {
  const fields = typeof list === 'function' ? list() : list;
  const typed = useSignal<RecordValues>(given);
  const failure = useSignal('');
  const values = withChoices(fields, typed.value);
  const isReady = fields.every(({ name, kind, isOptional }) => isOptional || kind === 'switch' || textOf(values[name]) !== '');
  const send = async () => {
    if (!isReady) return;
    failure.value = '';
    try {
      await submit(values);
      close();
    } catch (error) {
      failure.value = (error as Error).message;
    }
  };
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={!isReady}>
        {yes}
      </Button>
    </>
  );
  return (
    <Dialog title={title} close={close} onSubmit={() => void send()} footer={footer}>
      <Failure text={failure.value} />
      {fields.map((field) => (
        <FieldOf
          key={field.name}
          field={field}
          values={values}
          change={(value) => (typed.value = { ...typed.value, [field.name]: value })}
        />
      ))}
    </Dialog>
  );
}

const textOf = (value: string | boolean | undefined) => (typeof value === 'string' ? value.trim() : '');
const choicesOf = ({ choices }: RecordField, values: RecordValues) => (typeof choices === 'function' ? choices(values) : choices);

/** Sets choices without a possible value to their first one. */
function withChoices(fields: readonly RecordField[], values: RecordValues): RecordValues {
  const result: Record<string, string | boolean> = { ...values };
  for (const field of fields) {
    const choices = choicesOf(field, result);
    if (choices?.every(([value]) => value !== result[field.name])) result[field.name] = choices[0]?.[0] ?? '';
  }
  return result;
}

interface FieldOfProps {
  readonly field: RecordField;
  readonly values: RecordValues;
  readonly change: (value: string | boolean) => void;
}

function FieldOf({ field, values, change }: FieldOfProps) {
  const { name, label, kind = 'text', hint, options } = field;
  const common = { label, hint };
  const choices = choicesOf(field, values);
  if (choices) return <ChoiceField {...common} value={String(values[name] ?? '')} options={choices} onChange={change} />;
  if (kind === 'switch') return <SwitchField {...common} value={values[name] === true} onChange={change} />;
  return (
    <TextField
      {...common}
      value={String(values[name] ?? '')}
      onInput={change}
      secret={kind === 'secret'}
      {...(options && { options })}
    />
  );
}
