/** An inline message. */
import type { ComponentChildren } from 'preact';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface NoticeProps {
  readonly level: 'error' | 'warning';
  readonly close?: () => void;
  readonly children: ComponentChildren;
}

export function Notice({ level, close, children }: NoticeProps) {
  return (
    <div class={`notice ${level}`} role={level === 'error' ? 'alert' : 'note'}>
      <Icon name="warning" />
      <span>{children}</span>
      {close && <Button icon="close" kind="quiet" label={texts.dismiss} onClick={close} />}
    </div>
  );
}
