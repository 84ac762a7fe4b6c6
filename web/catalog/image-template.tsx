/** Makes a template of an image that no appliance knows: its kind, its name, and the property that holds the image. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { NodeType } from '../../src/schema/node.ts';
import type { Template } from '../../src/schema/template.ts';
import { type App, useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField, NumberField, TextField } from '../ui/field.tsx';
import { Progress } from '../ui/progress.tsx';
import { imageKinds } from './catalog.ts';
import { catalogTexts } from './catalog-texts.ts';
import { findStored } from './image-intake.ts';
import { imagesPath } from './images.ts';
import { type PropertySchema, useKindForms } from './kind-schema.ts';

interface ImageTemplateProps {
  readonly file: File;
  readonly md5sum: string;
  /** Kind of image, detected from the content of the file. */
  readonly kind: string;
  readonly close: () => void;
  readonly created: (template: Template) => unknown;
}

type Properties = Readonly<Record<string, PropertySchema>>;

/** A file with this ending is a CD, anything else the first disk, or the only image of its kind. */
function imageKey(properties: Properties, filename: string): string | undefined {
  const wanted = /\.iso$/i.test(filename) ? ['cdrom_image', 'image', 'path'] : ['hda_disk_image', 'image', 'path'];
  return wanted.find((key) => key in properties);
}

/** Guests do not see a disk without an interface. */
const imageSettings = (key: string, filename: string) => ({
  [key]: filename,
  ...(key === 'hda_disk_image' && { hda_disk_interface: 'virtio' }),
});

/** Uploads the file for a kind of node, once for each kind; resolves with its name on the compute. */
function useUpload({ api }: App, file: File, md5sum: string) {
  const sending = useRef(new AbortController());
  const stored = useRef(new Map<string, string>());
  useEffect(() => () => sending.current.abort(), []);
  return async (kind: string, onProgress: (part: number) => void): Promise<string> => {
    const path = imagesPath('local', kind);
    let name = stored.current.get(kind) ?? (await findStored(api, path, { filename: file.name, md5sum }));
    if (name === undefined) {
      await api.upload(`${path}/${encodeURIComponent(file.name)}`, { body: file, onProgress, signal: sending.current.signal });
      name = file.name;
    }
    stored.current.set(kind, name);
    return name;
  };
}

export function ImageTemplate({ file, md5sum, kind, close, created }: ImageTemplateProps) {
  const app = useApp();
  const { dropped } = catalogTexts;
  const type = useSignal(kind as NodeType);
  const name = useSignal(file.name.replace(/(\.\w{1,6})+$/, '') || file.name);
  const memory = useSignal(512);
  const part = useSignal<number | undefined>(undefined);
  const store = useUpload(app, file, md5sum);
  const form = useKindForms(app, type.value)?.template;
  const properties = form?.properties ?? {};
  const key = imageKey(properties, file.name);
  const isReady = key !== undefined && name.value.trim() !== '' && part.value === undefined;
  const create = () =>
    app.toasts
      .attempt(async () => {
        part.value = 0;
        const image = await store(type.value, (done) => (part.value = done));
        const settings = { ...(key && imageSettings(key, image)), ...('ram' in properties && { ram: memory.value }) };
        const others = Object.fromEntries((form?.required ?? []).map((one) => [one, smallestOf(properties[one])]));
        const body = { ...others, ...settings, name: name.value.trim(), template_type: type.value, compute_id: 'local' };
        const template = await app.api.post<Template>('/v2/templates', body);
        close();
        await created(template);
      })
      .finally(() => (part.value = undefined));
  const kinds = imageKinds(app).map((one) => [one, texts.kind[one as NodeType]] as const);
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={!isReady}>
        {dropped.create}
      </Button>
    </>
  );
  return (
    <Dialog title={dropped.title(file.name)} close={close} onSubmit={() => isReady && create()} footer={footer}>
      <p>{dropped.intro}</p>
      <TextField label={texts.name} value={name.value} onInput={(value) => (name.value = value)} focused />
      <ChoiceField
        label={texts.kindOfNode}
        value={type.value}
        options={kinds}
        onChange={(value) => (type.value = value as NodeType)}
      />
      {'ram' in properties && (
        <NumberField
          label={texts.properties.ram ?? ''}
          unit="MiB"
          minimum={1}
          value={memory.value}
          onChange={(value) => (memory.value = value)}
        />
      )}
      {part.value !== undefined && <Progress label={texts.sending} part={part.value} />}
    </Dialog>
  );
}

/** First value of a property without a default, such as the platform of a router. */
const smallestOf = (schema: PropertySchema | undefined) => schema?.enum?.[0] ?? schema?.minimum ?? '';
