/** Offers the sample labs. */
import './lab.css';
import './samples.css';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { LabPlanReply } from '../../src/schema/lab.ts';
import { projectPath } from '../router.ts';
import { type App, useApp } from '../state/app.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { Progress } from '../ui/progress.tsx';
import { LabPicture } from './lab-plan-view.tsx';
import { openSample, planSample, type SampleId, type SampleProgress, sampleIds } from './sample-labs.ts';
import { sampleTexts } from './sample-texts.ts';

export function SamplesDialog({ close }: { readonly close: () => void }) {
  const app = useApp();
  const progress = useSignal<SampleProgress | undefined>(undefined);
  const failure = useSignal('');
  const isClosed = useRef(false);
  const plans = usePlans(app);
  useEffect(
    () => () => {
      isClosed.current = true;
    },
    [],
  );
  const create = async (id: SampleId) => {
    failure.value = '';
    progress.value = { label: sampleTexts.labs[id].title, part: 0 };
    try {
      const projectId = await openSample(app, id, (now) => (progress.value = now));
      if (isClosed.current) return app.toasts.show('done', sampleTexts.made(sampleTexts.labs[id].title));
      close();
      if (app.tools.sidePane.peek() !== 'notes') app.tools.toggleSidePane('notes');
      app.router.go(projectPath(projectId));
    } catch (error) {
      const { message } = error as Error;
      if (isClosed.current) app.toasts.show('error', sampleTexts.failed(sampleTexts.labs[id].title, message));
      else failure.value = message;
    }
    progress.value = undefined;
  };
  return (
    <Dialog title={sampleTexts.title} close={close} wide>
      <p>{sampleTexts.intro}</p>
      {progress.value && <Progress label={progress.value.label} part={progress.value.part} />}
      <Failure text={failure.value} />
      <ul class="samples">
        {sampleIds.map((id) => (
          <Sample key={id} id={id} plan={plans.value.get(id)} isBusy={progress.value !== undefined} create={() => create(id)} />
        ))}
      </ul>
    </Dialog>
  );
}

/** Plans of the samples, one after the other: each takes a place of a limited number. */
function usePlans(app: App) {
  const plans = useSignal<ReadonlyMap<SampleId, LabPlanReply>>(new Map());
  useEffect(() => {
    const closed = new AbortController();
    const load = async () => {
      for (const id of sampleIds) {
        // A card without its picture is complete, too.
        const plan = await planSample(app, id, closed.signal).catch(() => undefined);
        if (closed.signal.aborted) return;
        if (plan) plans.value = new Map(plans.peek()).set(id, plan);
      }
    };
    void load();
    return () => closed.abort();
  }, [app, plans]);
  return plans;
}

interface SampleProps {
  readonly id: SampleId;
  readonly plan: LabPlanReply | undefined;
  readonly isBusy: boolean;
  readonly create: () => void;
}

function Sample({ id, plan, isBusy, create }: SampleProps) {
  const { title, about, needs } = sampleTexts.labs[id];
  const missing = [...new Set(plan?.missing.map(({ image }) => image))];
  const ready = needs ? sampleTexts.needs(needs) : sampleTexts.ready;
  return (
    <li class="sample">
      <div class="sample-picture" aria-hidden="true">
        {plan && <LabPicture picture={plan.picture} />}
      </div>
      <strong>{title}</strong>
      <span>{about}</span>
      <small class={missing.length > 0 ? 'missing' : ''}>{missing.length > 0 ? sampleTexts.missing(missing) : ready}</small>
      <Button disabled={isBusy} label={sampleTexts.createNamed(title)} onClick={create}>
        {sampleTexts.create}
      </Button>
    </li>
  );
}
