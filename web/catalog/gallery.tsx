/** The appliances of the server: search and filter them, drop more, and make templates of them. */
import './catalog.css';
import { type Signal, useSignal } from '@preact/signals';
import { type Appliance, kindOf } from '../../src/schema/appliance.ts';
import type { Template } from '../../src/schema/template.ts';
import { type App, useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { DeviceSymbol } from '../ui/device-symbol.tsx';
import { ChoiceField } from '../ui/field.tsx';
import { FilePicker } from '../ui/file-picker.tsx';
import { Icon } from '../ui/icon.tsx';
import { symbolOf } from './appliance-facts.tsx';
import { ApplianceWizard } from './appliance-wizard.tsx';
import { type Catalog, findByChecksum, useCatalog } from './catalog.ts';
import { catalogTexts } from './catalog-texts.ts';
import { md5Of } from './md5.ts';
import { isReady, type Readiness, readinessOf } from './readiness.ts';
import { takeApplianceFile } from './take-appliance.ts';

const any = '';

interface GalleryProps {
  /** Adds a node of a template that was made here. */
  readonly addNode?: (template: Template) => unknown;
}

export function Gallery({ addNode }: GalleryProps) {
  const app = useApp();
  const catalog = useCatalog(app, 'local');
  const filters = { text: useSignal(''), category: useSignal(any), vendor: useSignal(any), kind: useSignal(any) };
  const all = catalog.appliances.value ?? [];
  const kinds = [...app.server.kinds.value.keys()];
  const wanted = filters.text.value.trim().toLowerCase();
  const shown = all.filter(
    (one) =>
      [one.name, one.vendor_name, one.product_name, one.description].join(' ').toLowerCase().includes(wanted) &&
      [any, one.category].includes(filters.category.value) &&
      [any, one.vendor_name].includes(filters.vendor.value) &&
      [any, kindOf(one, kinds)].includes(filters.kind.value),
  );
  const open = (appliance: Appliance, files: readonly File[] = []) =>
    app.dialogs.show((close) => (
      <ApplianceWizard
        appliance={appliance}
        files={files}
        close={close}
        created={addNode ?? (() => catalog.readImages())}
        addsNode={addNode !== undefined}
      />
    ));
  return (
    <>
      <Filters all={all} kinds={kinds} {...filters} />
      <FilePicker
        label={catalogTexts.drop}
        hint={catalogTexts.dropHint}
        multiple
        onPick={(file) => take(app, catalog, file, open)}
      />
      <p class="empty" role="status">
        {catalog.appliances.value ? catalogTexts.count(shown.length, all.length) : texts.loading}
      </p>
      <ul class="gallery">
        {shown.map((appliance) => (
          <Card
            key={appliance.name}
            appliance={appliance}
            symbol={symbolOf(app, appliance)}
            readiness={readinessOf(app, appliance, catalog.images.value)}
            open={() => open(appliance)}
          />
        ))}
      </ul>
    </>
  );
}

type Open = (appliance: Appliance, files?: readonly File[]) => void;

/** An appliance file is stored at the server; an image opens the appliance that knows it. */
async function take(app: App, catalog: Catalog, file: File, open: Open): Promise<void> {
  await app.toasts.attempt(async () => {
    const appliance = await takeApplianceFile(app, file);
    if (appliance) {
      await catalog.readAppliances();
      open(appliance);
      return;
    }
    const md5sum = await md5Of(file, () => undefined);
    const found = findByChecksum(app, catalog.appliances.value ?? [], md5sum);
    if (!found) throw new Error(catalogTexts.unknownImage(file.name, md5sum));
    open(found.appliance, [file]);
  });
}

interface FiltersProps {
  readonly all: readonly Appliance[];
  readonly kinds: readonly string[];
  readonly text: Signal<string>;
  readonly category: Signal<string>;
  readonly vendor: Signal<string>;
  readonly kind: Signal<string>;
}

function Filters({ all, kinds, text, category, vendor, kind }: FiltersProps) {
  const values = (of: (one: Appliance) => string | undefined) => [...new Set(all.flatMap((one) => of(one) ?? []))].sort();
  return (
    <search class="filters">
      <label class="search">
        <Icon name="search" />
        <input
          type="search"
          placeholder={catalogTexts.search}
          aria-label={catalogTexts.search}
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
      </label>
      <ChoiceField
        label={catalogTexts.category}
        value={category.value}
        options={[
          [any, catalogTexts.allCategories],
          ...values((one) => one.category).map((one) => [one, catalogTexts.categories[one] ?? one] as const),
        ]}
        onChange={(value) => (category.value = value)}
      />
      <ChoiceField
        label={catalogTexts.vendor}
        value={vendor.value}
        options={[[any, catalogTexts.allVendors], ...values((one) => one.vendor_name).map((one) => [one, one] as const)]}
        onChange={(value) => (vendor.value = value)}
      />
      <ChoiceField
        label={catalogTexts.kind}
        value={kind.value}
        options={[
          [any, catalogTexts.allKinds],
          ...values((one) => kindOf(one, kinds)).map((one) => [one, texts.kind[one as keyof typeof texts.kind]] as const),
        ]}
        onChange={(value) => (kind.value = value)}
      />
    </search>
  );
}

interface CardProps {
  readonly appliance: Appliance;
  readonly symbol: string;
  readonly readiness: Readiness;
  readonly open: () => void;
}

function Card({ appliance: { name, vendor_name, category, description }, symbol, readiness, open }: CardProps) {
  const label = readiness.state === 'needs' ? catalogTexts.needs(readiness.count) : catalogTexts.badge[readiness.state];
  return (
    <li>
      <button type="button" class="appliance-card" onClick={open}>
        <DeviceSymbol symbol={symbol} size={40} />
        <span class="appliance-name">
          <strong>{name}</strong>
          <small>
            {[vendor_name !== name && vendor_name, catalogTexts.categories[category ?? '']].filter(Boolean).join(' · ')}
          </small>
        </span>
        <span class="appliance-text">{description}</span>
        <span class={isReady(readiness) ? 'chip opened' : 'chip'}>{label}</span>
      </button>
    </li>
  );
}
