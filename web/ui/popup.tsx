/** A popup at a point of the window: a press outside closes it, and it stays inside the window. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { keepFocus } from './focus.ts';

interface PopupProps {
  readonly x: number;
  readonly y: number;
  readonly close: () => void;
  readonly label: string;
  readonly children: ComponentChildren;
}

const marginPx = 8;

export function Popup({ x, y, close, label, children }: PopupProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(keepFocus, []);
  useLayoutEffect(() => {
    const popup = element.current;
    if (!popup) return;
    const { width, height } = popup.getBoundingClientRect();
    popup.style.left = `${Math.max(marginPx, Math.min(x, innerWidth - width - marginPx))}px`;
    popup.style.top = `${Math.max(marginPx, Math.min(y, innerHeight - height - marginPx))}px`;
    popup.querySelector<HTMLElement>('input, button:not(:disabled)')?.focus({ preventScroll: true });
  }, [x, y]);
  useLayoutEffect(() => {
    const away = (event: Event) => {
      if (!element.current?.contains(event.target as Node)) close();
    };
    const leave = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      close();
    };
    addEventListener('pointerdown', away, true);
    addEventListener('keydown', leave, true);
    return () => {
      removeEventListener('pointerdown', away, true);
      removeEventListener('keydown', leave, true);
    };
  }, [close]);
  return (
    <div ref={element} class="popup" role="dialog" aria-label={label}>
      {children}
    </div>
  );
}
