/** A new template: its kind and its name; the server fills in the rest, which is then edited. */
import { useSignal } from '@preact/signals';
import type { NodeType } from '../../src/schema/node.ts';
import type { Template } from '../../src/schema/template.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField, TextField } from '../ui/field.tsx';
import { TemplateEditor } from './template-editor.tsx';

/** Of these there are only built-in templates. */
const builtInOnly: readonly string[] = ['frame_relay_switch', 'atm_switch'];

export function NewTemplate({ close }: { readonly close: () => void }) {
  const app = useApp();
  const types = [...app.server.nodeTypes].filter((type) => !builtInOnly.includes(type)).sort() as NodeType[];
  /** Empty until one is chosen: the list may come later than this dialog. */
  const chosen = useSignal('');
  const type = chosen.value || (types.includes('qemu') ? 'qemu' : (types[0] ?? ''));
  const name = useSignal('');
  const make = () =>
    app.toasts.attempt(async () => {
      const body = { name: name.value.trim(), template_type: type, compute_id: 'local' };
      const template = await app.api.post<Template>('/v2/templates', body);
      close();
      app.dialogs.show((done) => <TemplateEditor template={template} close={done} />);
    });
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={name.value.trim() === ''}>
        {texts.create}
      </Button>
    </>
  );
  return (
    <Dialog title={texts.newTemplate} close={close} onSubmit={() => name.value.trim() !== '' && make()} footer={footer}>
      <TextField label={texts.name} value={name.value} onInput={(value) => (name.value = value)} focused />
      <ChoiceField
        label={texts.kindOfNode}
        value={type}
        options={types.map((one) => [one, texts.kind[one]] as const)}
        onChange={(value) => (chosen.value = value)}
      />
    </Dialog>
  );
}
