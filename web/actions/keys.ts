/** The keyboard: maps a key to its command. */
import type { App } from '../state/app.ts';
import { type Action, contextOf, runAction } from './action.ts';

const isApple = () => /Mac|iPhone|iPad/.test(navigator.platform);

/** Formats a pressed key as commands name their keys. */
export function chordOf(event: KeyboardEvent): string {
  const mod = isApple() ? event.metaKey : event.ctrlKey;
  // Option types other characters on a Mac: the key itself counts.
  const ofOption = isApple() && event.altKey ? /^Key([A-Z])$/.exec(event.code)?.[1] : undefined;
  const isLetter = ofOption !== undefined || /^[a-z]$/i.test(event.key);
  const key = isLetter ? (ofOption ?? event.key).toUpperCase() : event.key;
  // A character such as `?` already implies Shift.
  const isSign = event.key.length === 1 && !isLetter;
  return [mod && 'Mod', event.altKey && 'Alt', event.shiftKey && !isSign && 'Shift', key].filter(Boolean).join('+');
}

/** Formats a key for menus. */
export function shownChord(chord: string): string {
  const names: Readonly<Record<string, string>> = {
    Mod: isApple() ? '⌘' : 'Ctrl',
    ArrowLeft: '←',
    ArrowRight: '→',
    ArrowUp: '↑',
    ArrowDown: '↓',
    Escape: 'Esc',
    Delete: 'Del',
  };
  return chord
    .split(/\+(?=.)/)
    .map((part) => names[part] ?? part)
    .join(' ');
}

/** Keys typed into a field belong to the field. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.closest('input, textarea, select, .surface') !== null)
  );
}

const isConsole = (target: EventTarget | null) => target instanceof HTMLElement && target.closest('.surface') !== null;

/** A key that types a letter or sign, without Ctrl, Command or Alt; `?` shows the page on which these keys are switched on again. */
const isCharacter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key.length === 1 && key !== '?' && !ctrlKey && !metaKey && !altKey;

export function listenToKeys(app: App, actions: readonly Action[]): void {
  const byChord = new Map<string, Action[]>();
  for (const action of actions) for (const chord of action.keys ?? []) byChord.set(chord, [...(byChord.get(chord) ?? []), action]);
  /** Finds the command of a key; of several with the same key, that which fits the selection. */
  const actionOf = (chord: string): Action | undefined => {
    const [first, ...others] = byChord.get(chord) ?? [];
    return [first, ...others].find((action) => action?.enabled(contextOf(app))) ?? first;
  };
  // Handled before a console receives them.
  addEventListener(
    'keydown',
    (event) => {
      const chord = chordOf(event);
      const action = actionOf(chord);
      const scope = action?.keysWork;
      if (!action || app.dialogs.isAny || (scope !== 'inFields' && scope !== 'everywhere')) return;
      if (isConsole(event.target) && (scope === 'inFields' || !chord.startsWith('Mod+'))) return;
      event.preventDefault();
      event.stopPropagation();
      runAction(action, app);
    },
    { capture: true },
  );
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || isTyping(event.target) || app.dialogs.isAny) return;
    // Enter and the space bar press the focused button.
    const onButton = event.target instanceof HTMLElement && event.target.closest('button, a, summary') !== null;
    if (onButton && (event.key === 'Enter' || event.key === ' ')) return;
    const action = actionOf(chordOf(event));
    if (!action || action.keysWork === 'byBrowser' || (!app.letterKeys.peek() && isCharacter(event))) return;
    event.preventDefault();
    runAction(action, app);
  });
}
