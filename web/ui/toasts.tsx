import { useEffect, useRef } from 'preact/hooks';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

export function ToastList() {
  const { toasts } = useApp();
  const element = useRef<HTMLDivElement>(null);
  const count = toasts.list.value.length;
  useEffect(() => {
    // Shown again, so that it lies above a dialog opened since.
    element.current?.hidePopover();
    if (count > 0) element.current?.showPopover();
  }, [count]);
  return (
    <div ref={element} class="toasts" popover="manual" role="status" aria-live="polite">
      {toasts.list.value.map(({ id, level, text }) => (
        <div
          key={id}
          class={`toast ${level}`}
          onPointerEnter={() => toasts.hold(id)}
          onPointerLeave={() => toasts.resume({ id, level })}
          onFocusIn={() => toasts.hold(id)}
          onFocusOut={() => toasts.resume({ id, level })}
        >
          {level === 'error' && <Icon name="warning" />}
          <span>{text}</span>
          <Button icon="close" kind="quiet" label={texts.close} onClick={() => toasts.close(id)} />
        </div>
      ))}
    </div>
  );
}

export function DialogList() {
  const { dialogs } = useApp();
  return (
    <>
      {dialogs.open.value.map(({ id, draw }) => (
        <div key={id}>{draw(() => dialogs.close(id))}</div>
      ))}
    </>
  );
}
