/** The form of a template. Its fields follow from the template and from the schema of its kind. */
import { useSignal } from '@preact/signals';
import type { Template } from '../../src/schema/template.ts';
import { ImageUpload } from '../catalog/image-upload.tsx';
import { useImages } from '../catalog/images.ts';
import { useKindForms } from '../catalog/kind-schema.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField, TextField } from '../ui/field.tsx';
import { PropertyForm } from './property-form.tsx';
import { SymbolPicker } from './symbol-picker.tsx';
import { useEdits } from './use-edits.ts';

const shownAbove = ['name', 'category', 'default_name_format', 'symbol', 'template_id', 'template_type', 'builtin', 'compute_id'];
const categories = ['router', 'switch', 'guest', 'firewall'] as const;

/** Properties that hold the name of an image. */
export const isImageKey = (key: string) => /(^|_)image$|^initrd$|^path$/.test(key);

/** A guest does not see a disk without an interface: choosing a disk also chooses an interface that guests can boot from. */
function withInterface(key: string, image: unknown, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const disk = /^(hd[a-d])_disk_image$/.exec(key)?.[1];
  const property = `${disk}_disk_interface`;
  if (disk === undefined || image === '' || values[property] !== 'none') return {};
  const hasIde = /^(x86_64|i386)?$/.test(String(values.platform ?? ''));
  return { [property]: hasIde ? 'ide' : 'virtio' };
}

export function TemplateEditor({ template, close }: { readonly template: Template; readonly close: () => void }) {
  const app = useApp();
  const edits = useEdits((app.server.templates.find(template.template_id) ?? template) as unknown as Record<string, unknown>);
  const failure = useSignal('');
  const images = useImages(app, template.template_type);
  const values: Record<string, unknown> = { ...template, ...edits.values };
  const schema = useKindForms(app, template.template_type, values.platform as string | undefined)?.template;
  const imageKeys = Object.keys(values).filter(isImageKey);
  const set = (key: string, value: unknown) => {
    edits.set(key, value);
    for (const [other, fitting] of Object.entries(withInterface(key, value, values))) edits.set(other, fitting);
  };
  const save = async () => {
    try {
      await app.api.put(`/v2/templates/${template.template_id}`, edits.values);
      close();
    } catch (error) {
      failure.value = (error as Error).message;
    }
  };
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit>
        {texts.save}
      </Button>
    </>
  );
  const inTemplate = Object.fromEntries(Object.entries(schema?.properties ?? {}).filter(([key]) => key in template));
  const rest = Object.fromEntries(Object.keys(template).map((key) => [key, inTemplate[key] ?? {}]));
  return (
    <Dialog title={texts.templateOf(template.name)} close={close} onSubmit={save} footer={footer} wide>
      <div class="form-grid">
        <TextField label={texts.name} value={String(values.name)} onInput={(value) => set('name', value)} />
        <TextField
          label={texts.nameFormat}
          value={String(values.default_name_format)}
          onInput={(value) => set('default_name_format', value)}
        />
        <ChoiceField
          label={texts.category}
          value={String(values.category)}
          options={categories.map((one) => [one, texts.categories[one]] as const)}
          onChange={(value) => set('category', value)}
        />
      </div>
      <PropertyForm
        schema={{ properties: rest }}
        values={values}
        hidden={shownAbove}
        change={set}
        failure={failure.value}
        options={Object.fromEntries(imageKeys.map((key) => [key, images.names.value]))}
        grouped
      />
      {imageKeys.length > 0 && <ImageUpload nodeType={template.template_type} uploaded={images.read} />}
      <SymbolPicker symbol={String(values.symbol)} pick={(symbol) => set('symbol', symbol)} />
    </Dialog>
  );
}
