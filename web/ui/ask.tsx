/** Dialogs that ask for confirmation. */
import { useState } from 'preact/hooks';
import type { App } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';

export interface Question {
  readonly title: string;
  readonly text: string;
  /** Label of the confirming button. */
  readonly yes: string;
  readonly danger?: boolean;
}

export function ask(app: App, { title, text, yes, danger }: Question): Promise<boolean> {
  return new Promise((resolve) => {
    app.dialogs.show((close) => {
      const answer = (value: boolean) => {
        resolve(value);
        close();
      };
      const footer = (
        <>
          <Button onClick={() => answer(false)}>{texts.cancel}</Button>
          <Button kind={danger ? 'danger' : 'primary'} submit focused>
            {yes}
          </Button>
        </>
      );
      return (
        <Dialog title={title} close={() => answer(false)} onSubmit={() => answer(true)} footer={footer}>
          <p>{text}</p>
        </Dialog>
      );
    });
  });
}

export interface NameQuestion {
  readonly title: string;
  readonly label: string;
  readonly value?: string;
  readonly yes: string;
  /** Uses the name. A rejection is shown at the field; the dialog stays open and keeps the text. */
  readonly submit: (name: string) => unknown;
}

/** Asks for a name. */
export function askName(app: App, question: NameQuestion): void {
  app.dialogs.show((close) => <NameDialog {...question} close={close} />);
}

function NameDialog({ title, label, value = '', yes, submit, close }: NameQuestion & { close: () => void }) {
  const [name, setName] = useState(value);
  const [failure, setFailure] = useState('');
  const [isBusy, setBusy] = useState(false);
  const trimmed = name.trim();
  const send = async () => {
    if (trimmed === '' || isBusy) return;
    setBusy(true);
    setFailure('');
    try {
      await submit(trimmed);
      close();
    } catch (error) {
      setFailure((error as Error).message);
      setBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={trimmed === '' || isBusy}>
        {yes}
      </Button>
    </>
  );
  return (
    <Dialog title={title} close={close} onSubmit={() => void send()} footer={footer}>
      <TextField label={label} value={name} onInput={setName} failure={failure} focused />
    </Dialog>
  );
}
