/** A machine of a program that does not run here becomes a machine of QEMU: its disks are chosen, or uploaded. */
import { useSignal } from '@preact/signals';
import type { Node } from '../../src/schema/node.ts';
import type { Template } from '../../src/schema/template.ts';
import { ImageUpload } from '../catalog/image-upload.tsx';
import { useImages } from '../catalog/images.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/failure.tsx';
import { ChoiceField } from '../ui/field.tsx';

/** Limit of the server. */
const mostDisks = 4;
const isDisk = (name: string) => /\.(vdi|vmdk|vhd|vpc|vhdx)$/i.test(name);

interface ConvertDialogProps {
  /** Name of the node or template. */
  readonly name: string;
  readonly explanation: string;
  /** `POST` here converts it. */
  readonly path: string;
  /** Where its disks are. */
  readonly computeId: string;
  readonly close: () => void;
}

export function ConvertNode({ node, close }: { readonly node: Node; readonly close: () => void }) {
  const path = `${useProject().path}/nodes/${node.node_id}/convert`;
  const { name, compute_id: computeId } = node;
  return <ConvertDialog {...{ name, path, computeId, close }} explanation={texts.convert.explanation} />;
}

export function ConvertTemplate({ template, close }: { readonly template: Template; readonly close: () => void }) {
  const { name, template_id, compute_id } = template;
  const path = `/v2/templates/${template_id}/convert`;
  return <ConvertDialog {...{ name, path, close }} computeId={compute_id || 'local'} explanation={texts.convert.ofTemplate} />;
}

/** The request, and how it goes. */
function useConversion({ name, path, close }: ConvertDialogProps) {
  const app = useApp();
  const state = useSignal<{ readonly busy: boolean; readonly failure: string }>({ busy: false, failure: '' });
  const convert = async (disks: readonly string[]) => {
    if (disks.length === 0 || state.value.busy) return;
    state.value = { busy: true, failure: '' };
    try {
      const made = await app.api.post<{ name: string }>(path, { disks });
      app.toasts.show('done', texts.convert.done(name, made.name));
      close();
    } catch (error) {
      state.value = { busy: false, failure: (error as Error).message };
    }
  };
  return { state, convert };
}

function ConvertDialog(props: ConvertDialogProps) {
  const { name, explanation, computeId, close } = props;
  const app = useApp();
  const machine = app.server.mainType ?? 'qemu';
  const { names, failure, read } = useImages(app, machine, computeId);
  /** Names of the chosen disks, in the order of the machine. */
  const disks = useSignal<readonly string[]>([]);
  const { state, convert } = useConversion(props);
  const choose = (at: number, name: string) => {
    disks.value = name === '' ? disks.value.toSpliced(at, 1) : disks.value.toSpliced(at, 1, name);
  };
  const { busy } = state.value;
  const problem = state.value.failure || failure.value;
  const rows = disks.value.length < mostDisks ? [...disks.value, ''] : disks.value;
  return (
    <Dialog
      title={texts.convert.title(name)}
      close={close}
      onSubmit={() => convert(disks.value)}
      footer={
        <>
          <Button onClick={close}>{texts.cancel}</Button>
          <Button kind="primary" submit disabled={busy || disks.value.length === 0}>
            {texts.convert.action}
          </Button>
        </>
      }
    >
      <p>{explanation}</p>
      {rows.map((disk, at) => (
        <ChoiceField
          key={`disk ${at + 1}`}
          label={texts.convert.disk(at + 1)}
          value={disk}
          disabled={busy}
          options={[
            ['', texts.none],
            ...names.value
              .filter((name) => isDisk(name) && (name === disk || !disks.value.includes(name)))
              .map((name) => [name, name] as const),
          ]}
          onChange={(name) => choose(at, name)}
        />
      ))}
      <ImageUpload
        nodeType={machine}
        computeId={computeId}
        uploaded={async (name) => {
          await read();
          if (isDisk(name) && disks.value.length < mostDisks) disks.value = [...disks.value, name];
        }}
      />
      {busy && <p role="status">{texts.convert.busy}</p>}
      <Failure text={problem} />
    </Dialog>
  );
}
