/** The command menu: a text field over the list of everything that matches it. */
import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useApp } from '../../state/app.ts';
import { texts } from '../../texts.ts';
import { closeHandlers } from '../../ui/dialog.tsx';
import { keepFocus } from '../../ui/focus.ts';
import { Icon } from '../../ui/icon.tsx';
import type { Action } from '../action.ts';
import { type Target, targetsOf } from './entries.ts';
import { ranked } from './rank.ts';

const mostShown = 50;

interface CommandMenuProps {
  readonly actions: readonly Action[];
  readonly close: () => void;
}

export function CommandMenu({ actions, close }: CommandMenuProps) {
  const app = useApp();
  const element = useRef<HTMLDialogElement>(null);
  const text = useSignal('');
  const at = useSignal(0);
  const targets = useMemo(() => targetsOf(app, actions), []);
  const shown = useComputed(() => ranked(targets, text.value, mostShown)).value;
  const chosen = shown[at.value];
  useLayoutEffect(() => {
    const restoreFocus = keepFocus();
    element.current?.showModal();
    return restoreFocus;
  }, []);
  useLayoutEffect(() => {
    element.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at.value, shown]);
  const run = (target: Target | undefined) => {
    if (!target || target.lacks !== undefined) return;
    // Returns the focus at once: the command finds it where it was, and a key that follows acts after the command.
    element.current?.close();
    close();
    target.run();
  };
  const step = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) at.value = (at.value + by + shown.length) % Math.max(1, shown.length);
    else if (event.key === 'Enter') run(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={element} class="dialog command-menu" aria-label={texts.find.title} {...closeHandlers(close)} closedby="any">
      <label class="search">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label={texts.find.title}
          aria-expanded={true}
          aria-controls="found"
          aria-activedescendant={chosen ? `found-${at.value}` : undefined}
          placeholder={texts.find.placeholder}
          autocomplete="off"
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={step}
        />
      </label>
      <Found shown={shown} at={at.value} run={run} />
    </dialog>
  );
}

interface FoundProps {
  readonly shown: readonly Target[];
  readonly at: number;
  readonly run: (target: Target) => void;
}

/** The focus stays in the text field, which names the chosen entry. */
function Found({ shown, at, run }: FoundProps) {
  return (
    <div id="found" class="found" role="listbox" aria-label={texts.find.results} tabIndex={-1}>
      {shown.map((target, place) => (
        <button
          key={target.id}
          type="button"
          id={`found-${place}`}
          role="option"
          tabIndex={-1}
          class={place === at ? 'found-entry chosen' : 'found-entry'}
          aria-selected={place === at}
          aria-disabled={target.lacks !== undefined || undefined}
          onClick={() => run(target)}
        >
          <Icon name={target.icon} />
          <span>{target.label}</span>
          <small>{target.hint}</small>
          {target.keys && <kbd>{target.keys}</kbd>}
        </button>
      ))}
      {shown.length === 0 && <p class="empty">{texts.find.nothing}</p>}
    </div>
  );
}
