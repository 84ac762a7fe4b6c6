/** Registers a remote compute. */
import { useState } from 'preact/hooks';
import type { ComputeCreate } from '../../src/schema/compute.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceField, NumberField, TextField } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';

/** Default port of GNS3. */
const usualPort = 3080;

export function ComputeDialog({ close }: { readonly close: () => void }) {
  const { api } = useApp();
  const [compute, setCompute] = useState<ComputeCreate>({ host: '', port: usualPort, protocol: 'http' });
  const [failure, setFailure] = useState('');
  const set = (change: Partial<ComputeCreate>) => setCompute({ ...compute, ...change });
  const submit = async () => {
    // Empty fields are omitted.
    const given = Object.fromEntries(Object.entries(compute).filter(([, value]) => value !== ''));
    try {
      await api.post('/v2/computes', given);
      close();
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  const footer = (
    <>
      <Button onClick={close}>{texts.cancel}</Button>
      <Button kind="primary" submit disabled={compute.host.trim() === ''}>
        {texts.serverPage.addCompute}
      </Button>
    </>
  );
  return (
    <Dialog title={texts.serverPage.addCompute} close={close} onSubmit={() => void submit()} footer={footer}>
      {failure !== '' && <Notice level="error">{failure}</Notice>}
      <TextField label={texts.name} value={compute.name ?? ''} onInput={(name) => set({ name })} />
      <TextField label={texts.serverPage.host} value={compute.host} onInput={(host) => set({ host })} focused />
      <div class="row">
        <ChoiceField
          label={texts.serverPage.protocol}
          value={compute.protocol}
          options={['http', 'https']}
          onChange={(value) => set({ protocol: value === 'https' ? 'https' : 'http' })}
        />
        <NumberField
          label={texts.serverPage.port}
          value={compute.port}
          minimum={1}
          maximum={65535}
          onChange={(port) => set({ port })}
        />
      </div>
      <div class="row">
        <TextField label={texts.serverPage.user} value={compute.user ?? ''} onInput={(user) => set({ user })} />
        <TextField
          label={texts.serverPage.password}
          value={compute.password ?? ''}
          onInput={(password) => set({ password })}
          secret
        />
      </div>
    </Dialog>
  );
}
