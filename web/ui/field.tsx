/** Labelled controls of forms. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useDraft } from './draft.ts';

interface Common {
  readonly label: string;
  /** Explanation in one sentence. */
  readonly hint?: string | undefined;
  readonly disabled?: boolean;
}

function Field({ id, label, hint, children }: Common & { readonly id: string; readonly children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

interface TextProps extends Common {
  readonly value: string;
  readonly onInput?: (value: string) => void;
  /** Called on Enter, or when the field loses the focus. */
  readonly onChange?: (value: string) => void;
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
  ...field
}: TextProps) {
  const id = useId();
  const draft = useDraft(value);
  const common = {
    id,
    value: draft.value,
    onBlur: draft.onBlur,
    disabled,
    placeholder,
    'aria-describedby': field.hint ? `${id}-hint` : undefined,
    onInput: (event: { currentTarget: { value: string } }) => {
      draft.onInput(event);
      onInput?.(event.currentTarget.value);
    },
    onChange: (event: { currentTarget: { value: string } }) => onChange?.(event.currentTarget.value),
  };
  return (
    <Field id={id} {...field}>
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
  readonly onChange: (value: number) => void;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly unit?: string | undefined;
}

export function NumberField({ value, onChange, minimum, maximum, unit, disabled, ...field }: NumberProps) {
  const id = useId();
  const draft = useDraft(value === null ? '' : String(value));
  return (
    <Field id={id} {...field}>
      <span class="with-unit">
        <input
          id={id}
          type="number"
          {...draft}
          min={minimum}
          max={maximum}
          disabled={disabled}
          onChange={({ currentTarget }) => {
            if (currentTarget.value !== '' && currentTarget.reportValidity()) onChange(currentTarget.valueAsNumber);
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
  readonly onChange: (value: string) => void;
}

export function ChoiceField({ value, options, onChange, disabled, ...field }: ChoiceProps) {
  const id = useId();
  const rows = options.map((option) => (typeof option === 'string' ? ([option, option] as const) : option));
  return (
    <Field id={id} {...field}>
      <select id={id} value={value} disabled={disabled} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
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
  readonly onChange: (value: boolean) => void;
}

export function SwitchField({ label, hint, value, onChange, disabled }: SwitchProps) {
  const id = useId();
  return (
    <div class="field switch">
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-checked={value}
        checked={value}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && <small>{hint}</small>}
    </div>
  );
}

interface ColourProps extends Common {
  /** Any CSS colour; the browser's picker shows black for one that it does not support. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function ColourField({ value, onChange, ...field }: ColourProps) {
  const id = useId();
  return (
    <Field id={id} {...field}>
      <input id={id} type="color" value={value.slice(0, 7)} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
    </Field>
  );
}
