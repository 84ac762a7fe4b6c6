/** Creates a template from its kind, its name and the required properties; the server adds defaults, which can then be edited. */
import { type Signal, useSignal } from '@preact/signals';
import type { NodeType } from '../../src/schema/node.ts';
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
import { isImageKey, TemplateEditor } from './template-editor.tsx';

export function NewTemplate({ close }: { readonly close: () => void }) {
  const app = useApp();
  const types = [...app.server.kinds.value.values()].flatMap(({ templates, node_type }) => (templates ? [node_type] : []));
  /** Empty until the user chooses one: the list may load after this dialog. */
  const chosen = useSignal('');
  const first = types.find((one) => one === app.server.mainType) ?? types[0];
  const type = (chosen.value || first || '') as NodeType;
  const name = useSignal('');
  const given = useSignal<Readonly<Record<string, unknown>>>({});
  const form = useKindForms(app, type, given.value.platform as string | undefined)?.template;
  const required = form?.required ?? [];
  const isReady = form !== undefined && name.value.trim() !== '' && required.every((key) => given.value[key] !== undefined);
  const failure = useSignal('');
  const create = async () => {
    const body = { ...given.value, name: name.value.trim(), template_type: type, compute_id: 'local' };
    const template = await app.api.post<Template>('/v2/templates', body).catch(({ message }: Error) => {
      failure.value = message;
    });
    if (!template) return;
    close();
    app.dialogs.show((done) => <TemplateEditor template={template} close={done} />);
  };
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={!isReady}>
        {texts.create}
      </Button>
    </>
  );
  return (
    <Dialog title={texts.newTemplate} close={close} onSubmit={() => isReady && create()} footer={footer}>
      <TextField
        label={texts.name}
        value={name.value}
        onInput={(value) => (name.value = value)}
        failure={required.length === 0 ? failure.value : undefined}
        focused
      />
      <ChoiceField
        label={texts.kindOfNode}
        value={type}
        options={types.toSorted().map((one) => [one, texts.kind[one]] as const)}
        onChange={(value) => {
          chosen.value = value;
          given.value = {};
        }}
      />
      {required.length > 0 && (
        <RequiredFields
          key={type}
          type={type}
          schema={{ properties: Object.fromEntries(required.map((key) => [key, form?.properties?.[key] ?? {}])) }}
          given={given}
          failure={failure.value}
        />
      )}
    </Dialog>
  );
}

interface RequiredFieldsProps {
  readonly type: NodeType;
  readonly schema: NonNullable<Parameters<typeof PropertyForm>[0]['schema']>;
  readonly given: Signal<Readonly<Record<string, unknown>>>;
  readonly failure: string;
}

function RequiredFields({ type, schema, given, failure }: RequiredFieldsProps) {
  const app = useApp();
  const images = useImages(app, type);
  const imageKeys = Object.keys(schema.properties ?? {}).filter(isImageKey);
  return (
    <>
      <PropertyForm
        schema={schema}
        values={given.value}
        change={(key, value) => {
          given.value = { ...given.value, [key]: value === '' ? undefined : value };
        }}
        failure={failure}
        options={Object.fromEntries(imageKeys.map((key) => [key, images.names.value]))}
      />
      {imageKeys.length > 0 && <ImageUpload nodeType={type} uploaded={images.read} />}
    </>
  );
}
