/** Asks for an image that the server is to download: its URL, name, kind and checksum. */
import { useSignal } from '@preact/signals';
import { isImageHost } from '../../src/schema/image-hosts.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField, TextField } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { useImageHosts } from './catalog.ts';
import { catalogTexts } from './catalog-texts.ts';
import type { ImageUrl } from './image-intake.ts';

interface ImageFromUrlProps {
  readonly kinds: readonly (readonly [type: string, title: string])[];
  readonly kind: string;
  readonly start: (image: ImageUrl) => void;
}

/** A button that opens the dialog. */
export function ImageFromUrl(props: ImageFromUrlProps) {
  const hosts = useImageHosts(useApp());
  const isOpen = useSignal(false);
  return (
    <>
      <Button onClick={() => (isOpen.value = true)}>{catalogTexts.fromUrl.open}</Button>
      {isOpen.value && <UrlDialog {...props} hosts={hosts.value} close={() => (isOpen.value = false)} />}
    </>
  );
}

interface UrlDialogProps extends ImageFromUrlProps {
  /** Origins from which the server downloads. */
  readonly hosts: readonly string[];
  readonly close: () => void;
}

const sumPattern = /^(?:[\da-f]{32}|[\da-f]{64})$/i;

function UrlDialog({ hosts, kinds, kind, close, start }: UrlDialogProps) {
  const { fromUrl } = catalogTexts;
  const url = useSignal('');
  const typedName = useSignal<string | undefined>(undefined);
  const type = useSignal(kind);
  const checksum = useSignal('');
  const address = addressOf(url.value.trim());
  const shownName = typedName.value ?? nameIn(address);
  const filename = shownName.trim();
  const sum = checksum.value.trim();
  const isListed = address !== null && isImageHost(hosts, address);
  const isReady = isListed && filename !== '' && (sum === '' || sumPattern.test(sum));
  const submit = () => {
    if (!isReady) return;
    start({
      ...{ url: address.href, filename, nodeType: type.value },
      ...(sum !== '' && { [sum.length === 32 ? 'md5sum' : 'sha256']: sum.toLowerCase() }),
    });
    close();
  };
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={!isReady}>
        {fromUrl.start}
      </Button>
    </>
  );
  return (
    <Dialog title={fromUrl.title} close={close} onSubmit={submit} footer={footer}>
      <TextField
        label={fromUrl.url}
        value={url.value}
        onInput={(value) => (url.value = value)}
        hint={hosts.length > 0 ? fromUrl.hosts(hosts) : fromUrl.noHosts}
        focused
      />
      {address && !isListed && <Notice level="warning">{fromUrl.notListed}</Notice>}
      <TextField label={fromUrl.filename} value={shownName} onInput={(value) => (typedName.value = value)} />
      <ChoiceField label={texts.kindOfNode} value={type.value} options={kinds} onChange={(value) => (type.value = value)} />
      <TextField
        label={fromUrl.checksum}
        value={checksum.value}
        onInput={(value) => (checksum.value = value)}
        hint={sum === '' || sumPattern.test(sum) ? fromUrl.checksumHint : fromUrl.notAChecksum}
      />
    </Dialog>
  );
}

const addressOf = (text: string) => (URL.canParse(text) ? new URL(text) : null);

/** The last part of the path. */
function nameIn(address: URL | null): string {
  const name = address?.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
