/** Offers the sample labs. */
import './samples.css';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { projectPath } from '../router.ts';
import { useApp } from '../state/app.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { Progress } from '../ui/progress.tsx';
import { openSample, type SampleId, type SampleProgress, sampleIds } from './sample-labs.ts';
import { sampleTexts } from './sample-texts.ts';

export function SamplesDialog({ close }: { readonly close: () => void }) {
  const app = useApp();
  const progress = useSignal<SampleProgress | undefined>(undefined);
  const failure = useSignal('');
  const isClosed = useRef(false);
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
          <Sample key={id} id={id} isBusy={progress.value !== undefined} create={() => create(id)} />
        ))}
      </ul>
    </Dialog>
  );
}

interface SampleProps {
  readonly id: SampleId;
  readonly isBusy: boolean;
  readonly create: () => void;
}

function Sample({ id, isBusy, create }: SampleProps) {
  const { title, about, needs } = sampleTexts.labs[id];
  return (
    <li class="sample">
      <strong>{title}</strong>
      <span>{about}</span>
      <small>{needs ? sampleTexts.needs(needs) : sampleTexts.ready}</small>
      <Button disabled={isBusy} label={sampleTexts.createNamed(title)} onClick={create}>
        {sampleTexts.create}
      </Button>
    </li>
  );
}
