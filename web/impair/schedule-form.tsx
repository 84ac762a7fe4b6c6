/** The form of a schedule: its length, and a row of fields for each step. Parts of steps that it does not show stay as they are. */
import type { LinkScheduleInput, ScheduleStep } from '../../src/schema/schedule.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { ChoiceField, NumberField } from '../ui/field.tsx';

interface FormProps {
  readonly schedule: LinkScheduleInput;
  readonly change: (schedule: LinkScheduleInput) => void;
}

/** Filters of the form, each with its unit. Others are written as text. */
const filters = [
  ['delay', 'ms', 32_767],
  ['packet_loss', '%', 100],
  ['bandwidth', 'kbit/s', 100_000_000],
] as const;
const usualFlap = { down: 500, up: 1_500, count: 3 };
const longestSeconds = 7 * 24 * 3600;

type LinkState = 'same' | 'down' | 'up' | 'flap';

export function ScheduleForm({ schedule, change }: FormProps) {
  const { steps = [], duration, repeat = 1 } = schedule;
  const set = (at: number, step: ScheduleStep) => change({ ...schedule, steps: steps.with(at, step) });
  const setLength = (wanted: number | undefined) => {
    const { duration: _length, repeat: _runs, ...others } = schedule;
    change(wanted === undefined ? others : { ...others, duration: wanted, repeat });
  };
  const add = () => {
    const { at = -10_000 } = steps.at(-1) ?? {};
    change({ ...schedule, steps: [...steps, { at: at + 10_000, filters: { delay: [100] } }] });
  };
  return (
    <>
      <div class="form-grid">
        <ChoiceField
          label={texts.schedule.end}
          value={duration === undefined ? 'stay' : repeat === 0 ? 'repeat' : 'once'}
          options={[
            ['stay', texts.schedule.ends.stay],
            ['once', texts.schedule.ends.once],
            ['repeat', texts.schedule.ends.repeat],
          ]}
          onChange={(end) =>
            end === 'stay'
              ? setLength(undefined)
              : change({ ...schedule, duration: duration ?? lengthOf(steps), repeat: end === 'repeat' ? 0 : 1 })
          }
        />
        {duration !== undefined && (
          <Seconds label={texts.schedule.length} value={duration} least={0.001} onChange={(wanted) => setLength(wanted)} />
        )}
      </div>
      <ol class="schedule-steps">
        {steps.map((step, place) => (
          <li key={keyOf(place)}>
            <fieldset>
              <legend>{texts.schedule.step(place + 1)}</legend>
              <StepFields step={step} change={(wanted) => set(place, wanted)} />
              <Button
                icon="trash"
                kind="quiet"
                label={texts.schedule.removeStep(place + 1)}
                onClick={() => change({ ...schedule, steps: steps.toSpliced(place, 1) })}
              />
            </fieldset>
          </li>
        ))}
      </ol>
      <Button icon="plus" onClick={add}>
        {texts.schedule.addStep}
      </Button>
    </>
  );
}

/** Steps have no name but their place. */
const keyOf = (place: number) => `step ${place}`;

const lengthOf = (steps: readonly ScheduleStep[]) => Math.max(0, ...steps.map(({ at }) => at)) + 10_000;

function StepFields({ step, change }: { readonly step: ScheduleStep; readonly change: (step: ScheduleStep) => void }) {
  const state = stateOf(step);
  const setFilter = (type: string, value: number) => change({ ...step, filters: { ...step.filters, [type]: [value] } });
  return (
    <>
      <Seconds label={texts.schedule.from} value={step.at} onChange={(at) => change({ ...step, at })} />
      <Seconds label={texts.schedule.gradually} value={step.ramp ?? 0} onChange={(ramp) => change(withRamp(step, ramp))} />
      {filters.map(([type, unit, maximum]) => (
        <NumberField
          key={type}
          label={texts.schedule.filters[type]}
          unit={unit}
          minimum={0}
          maximum={maximum}
          value={numberOf(step.filters?.[type]?.[0])}
          onChange={(value) => setFilter(type, value)}
        />
      ))}
      <ChoiceField
        label={texts.schedule.link}
        value={state}
        options={Object.entries(texts.schedule.states)}
        onChange={(wanted) => change(withState(step, wanted as LinkState))}
      />
      {step.flap && (
        <>
          <Seconds
            label={texts.schedule.flapDown}
            value={step.flap.down}
            least={0.001}
            onChange={(down) => change({ ...step, flap: { ...usualFlap, ...step.flap, down } })}
          />
          <Seconds
            label={texts.schedule.flapUp}
            value={step.flap.up}
            least={0.001}
            onChange={(up) => change({ ...step, flap: { ...usualFlap, ...step.flap, up } })}
          />
        </>
      )}
    </>
  );
}

const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);

function stateOf({ suspend, flap }: ScheduleStep): LinkState {
  if (flap) return 'flap';
  return suspend === undefined ? 'same' : suspend ? 'down' : 'up';
}

function withState({ suspend: _suspend, flap: _flap, ...step }: ScheduleStep, state: LinkState): ScheduleStep {
  if (state === 'flap') return { ...step, flap: usualFlap };
  return state === 'same' ? step : { ...step, suspend: state === 'down' };
}

function withRamp({ ramp: _ramp, ...step }: ScheduleStep, ramp: number): ScheduleStep {
  return ramp === 0 ? step : { ...step, ramp };
}

interface SecondsProps {
  readonly label: string;
  /** Milliseconds. */
  readonly value: number;
  readonly least?: number;
  readonly onChange: (ms: number) => void;
}

const Seconds = ({ label, value, least = 0, onChange }: SecondsProps) => (
  <NumberField
    label={label}
    unit="s"
    minimum={least}
    maximum={longestSeconds}
    value={value / 1000}
    onChange={(wanted) => onChange(Math.round(wanted * 1000))}
  />
);
