/** The command menu: a text field over the list of everything that matches it. */
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type App, useApp } from '../../state/app.ts';
import { texts } from '../../texts.ts';
import { closeHandlers } from '../../ui/dialog.tsx';
import { keepFocus } from '../../ui/focus.ts';
import { Icon } from '../../ui/icon.tsx';
import type { Action } from '../action.ts';
import { type Target, targetsOf } from './entries.ts';
import type { Phrases } from './phrases.ts';
import { ranked } from './rank.ts';
import { keepCommand, recentCommands } from './recent.ts';

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
  const shown = useShown({ app, actions, targets }, text);
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
    keepCommand(target.phrase ?? target.id);
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

interface Source {
  readonly app: App;
  readonly actions: readonly Action[];
  readonly targets: readonly Target[];
}

/** Entries for the typed text: commands with arguments come first, and without a text those that were run last. */
function useShown({ app, actions, targets }: Source, text: ReadonlySignal<string>): readonly Target[] {
  const phrases = usePhrases(app, actions);
  const recent = useMemo(recentCommands, []);
  const again = (command: string): readonly Target[] => {
    const known = targets.find(({ id }) => id === command) ?? phrases.value?.of(command)[0];
    return known && known.lacks === undefined ? [known] : [];
  };
  return useComputed(() => {
    const typed = text.value.trim();
    const meant = typed === '' ? recent.flatMap(again) : (phrases.value?.of(typed) ?? []);
    const ids = new Set(meant.map(({ id }) => id));
    return [...meant, ...ranked(targets, typed, mostShown).filter(({ id }) => !ids.has(id))].slice(0, mostShown);
  }).value;
}

/** The reader of commands with arguments, as soon as it is loaded: the menu is there without it. Undefined outside of an open project. */
function usePhrases(app: App, actions: readonly Action[]): ReadonlySignal<Phrases | undefined> {
  const phrases = useSignal<Phrases | undefined>(undefined);
  useEffect(() => {
    const project = app.project.peek();
    if (project?.phase.peek() !== 'opened') return;
    const loaded = ({ Phrases }: typeof import('./phrases.ts')) => {
      phrases.value = new Phrases(app, project, actions);
    };
    import('./phrases.ts').then(loaded, () => undefined);
  }, []);
  return phrases;
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
