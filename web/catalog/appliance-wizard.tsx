/** Makes a template of an appliance: says which image files a version needs, takes them, and recognises them by their checksum. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import {
  type Appliance,
  type ApplianceImage,
  imagesOf,
  kindOf,
  sectionOf,
  templateOf,
  versionWith,
} from '../../src/schema/appliance.ts';
import { isImageHost } from '../../src/schema/image-hosts.ts';
import type { NodeType } from '../../src/schema/node.ts';
import type { Template } from '../../src/schema/template.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField, TextField } from '../ui/field.tsx';
import { FilePicker } from '../ui/file-picker.tsx';
import { Notice } from '../ui/notice.tsx';
import { ApplianceFacts } from './appliance-facts.tsx';
import { ArrivalList } from './arrival-list.tsx';
import { isPresent, readImages, stateOf, useImageHosts } from './catalog.ts';
import { catalogTexts } from './catalog-texts.ts';
import { ComputeField } from './compute-field.tsx';
import { type Arrival, ImageIntake } from './image-intake.ts';
import type { ImageFile } from './images.ts';
import { useKindForms } from './kind-schema.ts';
import { NeededFiles, type OfferedDownload } from './needed-files.tsx';
import { UseAs } from './use-as.tsx';

interface WizardProps {
  readonly appliance: Appliance;
  readonly close: () => void;
  /** Images that were dropped with it. */
  readonly files?: readonly File[];
  readonly created?: (template: Template) => unknown;
  /** Whether `created` adds a node. */
  readonly addsNode?: boolean;
}

export function ApplianceWizard({ appliance, ...props }: WizardProps) {
  const app = useApp();
  const kind = kindOf(appliance, app.server.kinds.value.keys()) as NodeType | undefined;
  if (kind) return <Wizard appliance={appliance} kind={kind} {...props} />;
  return (
    <Dialog title={catalogTexts.wizard.title(appliance.name)} close={props.close}>
      <Notice level="warning">{catalogTexts.tooNew(appliance.name)}</Notice>
    </Dialog>
  );
}

type KnownProps = WizardProps & { readonly kind: NodeType };

/** Holds the user's choices and the state of the compute. */
function useWizard({ appliance, kind, files = [] }: KnownProps) {
  const app = useApp();
  const versions = appliance.versions ?? [];
  const computeId = useSignal('local');
  const versionName = useSignal(versions[0]?.name ?? '');
  const here = useSignal<readonly ImageFile[]>([]);
  const read = async () => {
    here.value = (await readImages(app, computeId.value)).get(kind) ?? [];
  };
  const version = useComputed(() => versions.find(({ name }) => name === versionName.value));
  /** Names of files that the user provides with other contents. */
  const accepted = useSignal<readonly string[]>([]);
  const needed = useComputed(() =>
    imagesOf(appliance, version.value).map((image) => {
      const { md5sum: _, ...anyContent } = image;
      return { image, ...stateOf(accepted.value.includes(image.filename) ? anyContent : image, here.value) };
    }),
  );
  const intake = useMemo(
    () =>
      new ImageIntake({
        api: app.api,
        computeId: () => computeId.peek(),
        decide: (md5sum) => {
          const image = appliance.images?.find((one) => one.md5sum === md5sum);
          const isNeeded = needed.peek().some((one) => one.image.md5sum === md5sum);
          if (image && !isNeeded) versionName.value = versionWith(appliance, md5sum)?.name ?? versionName.peek();
          return image && { nodeType: kind, filename: image.filename };
        },
        stored: read,
      }),
    [appliance],
  );
  const accept = (arrival: Arrival, filename: string) => {
    accepted.value = [...accepted.value, filename];
    void intake.store(arrival.id, { nodeType: kind, filename });
  };
  const hosts = useImageHosts(app);
  const offer = (image: ApplianceImage): OfferedDownload | undefined => {
    const { filename, md5sum, filesize: size, direct_download_url: url = '', compression } = image;
    if (!md5sum || compression || !URL.canParse(url) || !isImageHost(hosts.value, new URL(url))) return undefined;
    const start = () => intake.download({ url, nodeType: kind, filename, md5sum, size });
    return { isRunning: intake.isComing(filename), start };
  };
  useEffect(() => void app.toasts.attempt(read), [computeId.value]);
  useEffect(() => {
    for (const file of files) void intake.take(file);
    return () => intake.close();
  }, [intake]);
  return { versions, computeId, versionName, version, needed, accept, intake, offer };
}

function Wizard(props: KnownProps) {
  const { appliance, kind, close, created, addsNode } = props;
  const app = useApp();
  const wizard = catalogTexts.wizard;
  const { versions, computeId, versionName, version, needed, accept, intake, offer } = useWizard(props);
  const name = useSignal(appliance.name);
  const form = useKindForms(app, kind, platformOf(sectionOf(appliance, kind, version.value)))?.template;
  const missing = needed.value.filter(({ state }) => !isPresent(state));
  const isReady = missing.length === 0 && form != null && name.value.trim() !== '';
  const create = () =>
    app.toasts.attempt(async () => {
      const fileNames = new Map(needed.value.map((one) => [one.image.filename, one.name]));
      const known = new Set(Object.keys(form?.properties ?? {}));
      const chosen = { name: name.value.trim(), computeId: computeId.value, version: version.value };
      const parts = { ...chosen, kind, fileNames, known };
      const template = await app.api.post<Template>('/v2/templates', templateOf(appliance, parts));
      close();
      app.toasts.show('done', wizard.created(template.name));
      await created?.(template);
    });
  const footer = (
    <>
      {missing.length > 0 && <small class="grow">{wizard.lacks(missing.length)}</small>}
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={!isReady}>
        {addsNode ? wizard.createAndAdd : wizard.create}
      </Button>
    </>
  );
  const unknown = (arrival: Arrival) => (
    <UseAs arrival={arrival} names={missing.map(({ image }) => image.filename)} use={(filename) => accept(arrival, filename)} />
  );
  return (
    <Dialog title={wizard.title(appliance.name)} close={close} onSubmit={() => isReady && create()} footer={footer} wide>
      <ApplianceFacts appliance={appliance} />
      <div class="form-grid">
        <TextField label={texts.name} value={name.value} onInput={(value) => (name.value = value)} focused />
        {versions.length > 0 && (
          <ChoiceField
            label={wizard.version}
            value={versionName.value}
            options={versions.map((one) => one.name)}
            onChange={(value) => (versionName.value = value)}
          />
        )}
        <ComputeField computeId={computeId} />
      </div>
      <NeededFiles section={sectionOf(appliance, kind, version.value)} needed={needed.value} offer={offer} intake={intake} />
      {missing.length > 0 && (
        <FilePicker label={wizard.drop} multiple onPick={(file) => void intake.take(file)} hint={catalogTexts.dropHint} />
      )}
      <ArrivalList intake={intake} shown={needed.value.map(({ image }) => image.filename)} unknown={unknown} />
    </Dialog>
  );
}

function platformOf({ platform, arch }: Readonly<Record<string, unknown>>): string | undefined {
  const value = platform ?? arch;
  return typeof value === 'string' ? value : undefined;
}
