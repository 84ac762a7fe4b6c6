/** Labelled controls of forms. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useRefusal, useSentDraft } from './draft.ts';

interface Common {
  readonly label: string;
  /** Explanation in one sentence. */
  readonly hint?: string | undefined;
  readonly disabled?: boolean;
  /** Why the value was refused. */
  readonly failure?: string | undefined;
}

function Field({ id, label, hint, failure, children }: Common & { readonly id: string; readonly children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      <Refused id={id} text={failure} />
    </div>
  );
}

function Refused({ id, text }: { readonly id: string; readonly text: string | undefined }) {
  if (!text) return null;
  return (
    <small class="refused" id={`${id}-refused`} role="alert">
      {text}
    </small>
  );
}

/** Attributes of a control that say whether its value was refused, and what describes it. */
function describedBy(id: string, hint: string | undefined, failure: string | undefined) {
  const texts = [hint && `${id}-hint`, failure && `${id}-refused`].filter(Boolean);
  return { ...(texts.length > 0 && { 'aria-describedby': texts.join(' ') }), ...(failure && { 'aria-invalid': true }) };
}

interface TextProps extends Common {
  readonly value: string;
  readonly onInput?: (value: string) => void;
  /** Called on Enter, or when the field loses the focus. A rejection is shown at the field, which keeps the text. */
  readonly onChange?: (value: string) => unknown;
  readonly focused?: boolean;
  readonly lines?: number;
  readonly options?: readonly string[];
  readonly placeholder?: string;
  /** Hides the typed text. */
  readonly secret?: boolean;
}

export function TextField({
  value,
  onInput,
  onChange,
  focused,
  lines,
  options,
  placeholder,
  secret,
  disabled,
  failure,
  ...field
}: TextProps) {
  const id = useId();
  const { draft, refusal, follow } = useSentDraft(value);
  const refused = refusal || failure;
  const common = {
    id,
    value: draft.value,
    onBlur: draft.onBlur,
    disabled,
    placeholder,
    ...describedBy(id, field.hint, refused),
    onInput: (event: { currentTarget: { value: string } }) => {
      draft.onInput(event);
      onInput?.(event.currentTarget.value);
    },
    onChange: (event: { currentTarget: { value: string } }) => follow(onChange?.(event.currentTarget.value)),
  };
  return (
    <Field id={id} {...field} failure={refused}>
      {lines ? (
        <textarea rows={lines} {...common} />
      ) : (
        <input
          {...(secret ? { type: 'password' as const } : { type: 'text' as const, list: options && `${id}-list` })}
          data-focus={focused}
          {...common}
        />
      )}
      {options && (
        <datalist id={`${id}-list`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </Field>
  );
}

interface NumberProps extends Common {
  readonly value: number | null;
  readonly onChange: (value: number) => unknown;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly unit?: string | undefined;
}

export function NumberField({ value, onChange, minimum, maximum, unit, disabled, failure, ...field }: NumberProps) {
  const id = useId();
  const { draft, refusal, follow } = useSentDraft(value === null ? '' : String(value));
  const refused = refusal || failure;
  return (
    <Field id={id} {...field} failure={refused}>
      <span class="with-unit">
        <input
          id={id}
          type="number"
          {...draft}
          min={minimum}
          max={maximum}
          disabled={disabled}
          {...describedBy(id, field.hint, refused)}
          onChange={({ currentTarget }) => {
            if (currentTarget.value !== '' && currentTarget.reportValidity()) follow(onChange(currentTarget.valueAsNumber));
          }}
        />
        {unit && <span class="unit">{unit}</span>}
      </span>
    </Field>
  );
}

interface ChoiceProps extends Common {
  readonly value: string;
  readonly options: readonly (string | readonly [value: string, label: string])[];
  readonly onChange: (value: string) => unknown;
}

export function ChoiceField({ value, options, onChange, disabled, failure, ...field }: ChoiceProps) {
  const id = useId();
  const { refusal, follow } = useRefusal();
  const rows = options.map((option) => (typeof option === 'string' ? ([option, option] as const) : option));
  return (
    <Field id={id} {...field} failure={refusal || failure}>
      <select
        id={id}
        value={value}
        disabled={disabled}
        {...describedBy(id, field.hint, refusal || failure)}
        onChange={({ currentTarget }) => follow(onChange(currentTarget.value))}
      >
        {rows.every(([known]) => known !== value) && <option value={value}>{value}</option>}
        {rows.map(([known, label]) => (
          <option key={known} value={known}>
            {label}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface SwitchProps extends Common {
  readonly value: boolean;
  readonly onChange: (value: boolean) => unknown;
}

export function SwitchField({ label, hint, value, onChange, disabled, failure }: SwitchProps) {
  const id = useId();
  const { refusal, follow } = useRefusal();
  return (
    <div class="field switch">
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-checked={value}
        checked={value}
        disabled={disabled}
        onChange={({ currentTarget }) => follow(onChange(currentTarget.checked))}
      />
      <label for={id}>{label}</label>
      {hint && <small>{hint}</small>}
      <Refused id={id} text={refusal || failure} />
    </div>
  );
}

interface ColourProps extends Common {
  /** Any CSS colour; the browser's picker shows black for one that it does not support. */
  readonly value: string;
  readonly onChange: (value: string) => unknown;
}

export function ColourField({ value, onChange, failure, ...field }: ColourProps) {
  const id = useId();
  const { refusal, follow } = useRefusal();
  return (
    <Field id={id} {...field} failure={refusal || failure}>
      <input
        id={id}
        type="color"
        value={value.slice(0, 7)}
        onChange={({ currentTarget }) => follow(onChange(currentTarget.value))}
      />
    </Field>
  );
}
