/** The address of what the canvas shows, to hand to another user of this server. */
import { useRef } from 'preact/hooks';
import { useApp } from '../state/app.ts';
import { Button } from '../ui/button.tsx';
import { copyText } from '../ui/copy-text.ts';
import { Dialog } from '../ui/dialog.tsx';

const shareTexts = {
  title: 'Share this view',
  text: 'Who opens this address sees the same part of the canvas, with the same selection.',
  address: 'Address',
  copy: 'Copy',
  copied: 'Address copied',
} as const;

export function ShareDialog({ address, close }: { readonly address: string; readonly close: () => void }) {
  const { toasts } = useApp();
  const field = useRef<HTMLInputElement>(null);
  const copy = () => {
    if (copyText(field.current)) toasts.show('done', shareTexts.copied);
    close();
  };
  const footer = (
    <Button kind="primary" submit>
      {shareTexts.copy}
    </Button>
  );
  return (
    <Dialog title={shareTexts.title} close={close} onSubmit={copy} footer={footer}>
      <p>{shareTexts.text}</p>
      <input ref={field} aria-label={shareTexts.address} readOnly value={address} onFocus={() => field.current?.select()} />
    </Dialog>
  );
}
