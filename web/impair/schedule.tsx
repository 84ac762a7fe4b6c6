/** The schedule of a link: where it is now, and its text to edit. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Link } from '../../src/schema/link.ts';
import type { ScheduleFigures } from '../../src/schema/link-stats.ts';
import type { LinkSchedule, LinkScheduleInput } from '../../src/schema/schedule.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { positionOf, ScheduleStrip, seconds, shownLength } from './schedule-strip.tsx';

const loadEditor = async () => (await import('./schedule-editor.tsx')).ScheduleEditor;

interface ScheduleProps {
  readonly link: Link;
  /** Undefined while it has none. */
  readonly now: ScheduleFigures | undefined;
}

const example: LinkScheduleInput = {
  duration: 30_000,
  repeat: 0,
  steps: [
    { at: 0, filters: { delay: [20] } },
    { at: 10_000, filters: { delay: [200], packet_loss: [5] }, ramp: 5_000 },
    { at: 20_000, flap: { down: 500, up: 1_500, count: 3 } },
  ],
};

export function Schedule({ link, now }: ScheduleProps) {
  const { api, toasts } = useApp();
  const path = `${useProject().path}/links/${link.link_id}/schedule`;
  const schedule = useSignal<LinkSchedule | undefined>(undefined);
  const isEditing = useSignal(false);
  // Another client may have set one: its start is in the figures.
  useEffect(() => {
    if (now?.started_at === undefined) schedule.value = undefined;
    else
      void toasts.attempt(async () => {
        schedule.value = await api.get<LinkSchedule>(path);
      });
  }, [api, toasts, path, now?.started_at, schedule]);
  const run = async (wanted: LinkScheduleInput) => {
    schedule.value = await api.put<LinkSchedule>(path, wanted);
    isEditing.value = false;
  };
  const remove = () =>
    toasts.attempt(async () => {
      await api.delete(path);
      schedule.value = undefined;
    });
  const { started_at: _start, ...again } = schedule.value ?? { started_at: 0, ...example };
  return (
    <section class="impairments schedule" aria-label={texts.schedule.title}>
      <header class="panel-head">
        <h3>{texts.schedule.title}</h3>
        {schedule.value && <Button onClick={() => toasts.attempt(() => run(again))}>{texts.schedule.restart}</Button>}
        {schedule.value && <Button onClick={remove}>{texts.schedule.remove}</Button>}
        <Button
          pressed={isEditing.value}
          onClick={() => {
            isEditing.value = !isEditing.value;
          }}
        >
          {schedule.value ? texts.schedule.edit : texts.schedule.add}
        </Button>
      </header>
      {schedule.value && <Now schedule={schedule.value} now={now} />}
      {isEditing.value && <Lazy load={loadEditor} props={{ initial: again, run }} />}
    </section>
  );
}

function Now({ schedule, now }: { readonly schedule: LinkSchedule; readonly now: ScheduleFigures | undefined }) {
  const elapsed = now?.elapsed ?? Date.now() - schedule.started_at;
  const position = positionOf(schedule, elapsed);
  const { time, run } = position;
  const length = schedule.duration === undefined ? undefined : seconds(shownLength(schedule));
  const ended = elapsed < 0 ? texts.schedule.waiting(seconds(-elapsed)) : texts.schedule.over;
  const acting = Object.entries(now?.filters ?? {}).map(([key, values]) => `${key} ${values?.map(figure).join(' ')}`);
  return (
    <>
      <ScheduleStrip schedule={schedule} position={position} />
      <p class="losses">
        {time === undefined ? ended : texts.schedule.at(seconds(time), run, length)}
        {now?.suspend && <span class="chip">{texts.schedule.down}</span>}
        {acting.map((text) => (
          <span key={text} class="chip">
            {text}
          </span>
        ))}
      </p>
    </>
  );
}

function figure(value: number | string): string {
  return typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 2 }) : value;
}
