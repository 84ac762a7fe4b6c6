/** Field for a value of a filter: a number with its unit and bounds, a choice, a switch, or lines of text. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { FilterParameter } from '../../src/schema/filter-table.ts';
import { texts } from '../texts.ts';
import { ChoiceField, SwitchField } from '../ui/field.tsx';

type Value = number | string | undefined;

interface FilterFieldProps {
  readonly parameter: FilterParameter;
  readonly label: string;
  readonly value: Value;
  /** The value in effect while the field is empty. */
  readonly inherited: Value;
  readonly onChange: (value: Value) => void;
}

export function FilterField(props: FilterFieldProps) {
  const { parameter, label, value, onChange } = props;
  const { choices, type, minimum, maximum } = parameter;
  if (choices)
    return (
      <ChoiceField
        // The choices are shown below it.
        label={label.replace(/ \(.*\)$/, '')}
        value={String(value ?? '')}
        options={[['', texts.impair.notSet], ...choices.map((choice) => [choice, choice] as const)]}
        onChange={(chosen) => onChange(chosen === '' ? undefined : chosen)}
      />
    );
  if (type === 'text') return <TextLines {...props} />;
  // A number that can only be 0 or 1 becomes a switch.
  if (minimum === 0 && maximum === 1)
    return <SwitchField label={label} value={value === 1} onChange={(on) => onChange(on ? 1 : undefined)} />;
  return <NumberInput {...props} />;
}

function TextLines({ label, value, inherited, onChange }: FilterFieldProps) {
  const id = useId();
  return (
    <div class="field wide">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={2}
        value={String(value ?? '')}
        placeholder={inherited === undefined ? texts.impair.bpfExample : String(inherited)}
        onInput={({ currentTarget }) => onChange(currentTarget.value.trim() === '' ? undefined : currentTarget.value)}
      />
    </div>
  );
}

function NumberInput({ parameter, label, value, inherited, onChange }: FilterFieldProps) {
  const { minimum, maximum, unit = '', fractions } = parameter;
  const id = useId();
  /** The text being typed: `0.0` on the way to `0.05` must not become `0`. */
  const typed = useSignal<string | undefined>(undefined);
  const wrong = useSignal('');
  const bounds = texts.impair.bounds(minimum ?? 0, maximum ?? 0, unit);
  const take = (input: HTMLInputElement) => {
    typed.value = input.value;
    const isValid = input.validity.valid;
    wrong.value = isValid ? '' : bounds;
    if (isValid) onChange(input.value === '' ? undefined : input.valueAsNumber);
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <span class="with-unit">
        <input
          id={id}
          type="number"
          value={typed.value ?? value ?? ''}
          min={minimum}
          max={maximum}
          step={fractions ? 'any' : 1}
          placeholder={String(inherited ?? 0)}
          title={bounds}
          aria-describedby={`${id}-bounds`}
          aria-invalid={wrong.value !== ''}
          onInput={({ currentTarget }) => take(currentTarget)}
          onBlur={() => {
            typed.value = undefined;
            wrong.value = '';
          }}
        />
        <span class="unit">{unit}</span>
      </span>
      <small id={`${id}-bounds`} class={wrong.value === '' ? undefined : 'bad'} role={wrong.value === '' ? undefined : 'alert'}>
        {bounds}
      </small>
    </div>
  );
}
