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
}

/** Asks for a name; undefined when the user cancels. */
export function askName(app: App, question: NameQuestion): Promise<string | undefined> {
  return new Promise((resolve) => {
    app.dialogs.show((close) => {
      const answer = (value: string | undefined) => {
        resolve(value);
        close();
      };
      return <NameDialog {...question} answer={answer} />;
    });
  });
}

function NameDialog({ title, label, value = '', yes, answer }: NameQuestion & { answer: (value: string | undefined) => void }) {
  const [name, setName] = useState(value);
  const trimmed = name.trim();
  const footer = (
    <>
      <Button onClick={() => answer(undefined)}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={trimmed === ''}>
        {yes}
      </Button>
    </>
  );
  return (
    <Dialog title={title} close={() => answer(undefined)} onSubmit={() => trimmed !== '' && answer(trimmed)} footer={footer}>
      <TextField label={label} value={name} onInput={setName} focused />
    </Dialog>
  );
}
