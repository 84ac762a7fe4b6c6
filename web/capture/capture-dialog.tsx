/** Starts and stops the capture of a link. */
import { useState } from 'preact/hooks';
import type { CaptureSide, LinkCaptureStart } from '../../src/schema/capture.ts';
import type { Link } from '../../src/schema/link.ts';
import type { App } from '../state/app.ts';
import { captureTab } from '../state/console-dock.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField, TextField } from '../ui/field.tsx';
import { nameOfCapture, openDock, unusedName } from './capture-files.ts';

export const openCapture = (app: App, linkId: string): void => openDock(app, captureTab(linkId));

/** Asks for the options first. */
export function startCapture(app: App, project: ProjectState, link: Link): void {
  const start = (options: LinkCaptureStart) => app.toasts.attempt(() => beginCapture(app, project, link, options));
  app.dialogs.show((close) => <CaptureDialog close={close} start={start} />);
}

/** Starts a capture and shows its packets. @throws ApiError */
export async function beginCapture(app: App, project: ProjectState, link: Link, options: LinkCaptureStart = {}): Promise<void> {
  const { capture_file_name: typed, ...body } = options;
  const capture_file_name = typed ? await unusedName(app.api, project, typed) : nameOfCapture(project, link);
  await app.api.post(`${project.path}/links/${link.link_id}/start_capture`, { ...body, capture_file_name });
  openCapture(app, link.link_id);
}

export function stopCapture(app: App, project: ProjectState, linkId: string): Promise<unknown> {
  return app.toasts.attempt(() => app.api.post(`${project.path}/links/${linkId}/stop_capture`));
}

interface CaptureDialogProps {
  readonly close: () => void;
  readonly start: (body: LinkCaptureStart) => void;
}

const bytesPerMib = 1024 * 1024;

function CaptureDialog({ close, start }: CaptureDialogProps) {
  const [side, setSide] = useState<CaptureSide>('after');
  const [name, setName] = useState('');
  const [mebibytes, setMebibytes] = useState('');
  const [seconds, setSeconds] = useState('');
  const limit = (text: string, unit = 1) => (Number(text) > 0 ? Math.ceil(Number(text) * unit) : undefined);
  const submit = () => {
    const [max_bytes, max_seconds] = [limit(mebibytes, bytesPerMib), limit(seconds)];
    start({
      side,
      capture_file_name: name.trim(),
      ...(max_bytes !== undefined && { max_bytes }),
      ...(max_seconds !== undefined && { max_seconds }),
    });
    close();
  };
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit focused>
        {texts.capture.start}
      </Button>
    </>
  );
  return (
    <Dialog title={texts.capture.title} close={close} onSubmit={submit} footer={footer}>
      <ChoiceField
        label={texts.capture.side}
        value={side}
        options={[
          ['after', texts.capture.sides.after],
          ['before', texts.capture.sides.before],
        ]}
        onChange={(value) => setSide(value === 'before' ? 'before' : 'after')}
      />
      <div class="row">
        <TextField label={texts.capture.maxSize} value={mebibytes} onInput={setMebibytes} placeholder={texts.capture.noLimit} />
        <TextField label={texts.capture.maxTime} value={seconds} onInput={setSeconds} placeholder={texts.capture.noLimit} />
      </div>
      <TextField label={texts.capture.file} value={name} onInput={setName} placeholder={texts.capture.fileByItself} />
    </Dialog>
  );
}
