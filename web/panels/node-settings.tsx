/** The settings of a node as a form: common ones, and those of its kind from the server's schemas. */
import { useSignal } from '@preact/signals';
import type { ConsoleType, Node, NodeUpdate } from '../../src/schema/node.ts';
import { useKindForms } from '../catalog/kind-schema.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { SwitchField, TextField } from '../ui/field.tsx';
import { PropertyForm } from './property-form.tsx';
import { SymbolPicker } from './symbol-picker.tsx';
import { useEdits } from './use-edits.ts';

interface NodeSettingsProps {
  readonly node: Node;
  readonly change: (update: NodeUpdate) => Promise<unknown>;
}

/** Members of the node object that are common to all kinds. */
const ownKeys = ['name', 'console', 'console_type', 'custom_adapters', 'node_id'];

export function NodeSettings({ node, change }: NodeSettingsProps) {
  const app = useApp();
  const schema = useKindForms(app, node.node_type)?.node;
  const edits = useEdits(node.properties);
  const consoles = schema?.properties?.console_type?.enum as readonly ConsoleType[] | undefined;
  const values = { ...node.properties, ...edits.values };
  const failure = useSignal('');
  const send = async () => {
    try {
      await change({ properties: edits.values });
      edits.clear();
      failure.value = '';
    } catch (error) {
      failure.value = (error as Error).message;
    }
  };
  const discard = () => {
    edits.clear();
    failure.value = '';
  };
  const isEdited = Object.keys(edits.values).length > 0;
  return (
    <details open={isEdited}>
      <summary>{texts.settings}</summary>
      {consoles && (
        <PropertyForm
          schema={{ properties: { console_type: { enum: consoles } } }}
          values={{ console_type: node.console_type ?? 'none' }}
          change={(_, value) => change({ console_type: value as ConsoleType })}
        />
      )}
      <TextField
        label={texts.usageNote}
        lines={2}
        value={String(values.usage ?? '')}
        onChange={(usage) => change({ properties: { usage } })}
      />
      <SwitchField
        label={texts.consoleAutoStart}
        value={node.console_auto_start}
        onChange={(console_auto_start) => change({ console_auto_start })}
      />
      <PropertyForm schema={schema} values={values} hidden={[...ownKeys, 'usage']} change={edits.set} failure={failure.value} />
      {isEdited && (
        <div class="row sticky">
          <Button kind="primary" onClick={send}>
            {texts.apply}
          </Button>
          <Button onClick={discard}>{texts.cancel}</Button>
          {node.status === 'started' && <small>{texts.appliedAtStart}</small>}
        </div>
      )}
      <SymbolPicker symbol={node.symbol} pick={(symbol) => app.toasts.attempt(() => change({ symbol }))} />
    </details>
  );
}
