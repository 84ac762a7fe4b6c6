/** Moves between the tabs of a list by arrow keys, Home and End. */
import type { TargetedKeyboardEvent } from 'preact';

export function tabKeys(event: TargetedKeyboardEvent<HTMLElement>, pick: (place: number) => void): void {
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')];
  const at = tabs.indexOf(event.target as HTMLElement);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const place = (next + tabs.length) % tabs.length;
  pick(place);
  tabs[place]?.focus();
}
