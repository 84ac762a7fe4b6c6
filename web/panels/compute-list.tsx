/** Computes with the load that they report. */
import type { ComputeObject } from '../../src/schema/compute.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

/** The compute inside the server. */
const ownId = 'local';

export function ComputeList() {
  const { server } = useApp();
  return (
    <ul class="project-list">
      {server.computes.all.value.map((compute) => (
        <ComputeRow key={compute.compute_id} compute={compute} />
      ))}
    </ul>
  );
}

function ComputeRow({ compute }: { readonly compute: ComputeObject }) {
  const app = useApp();
  const { compute_id, name, connected, protocol, host, port, last_error, capabilities } = compute;
  const remove = async () => {
    if (!(await ask(app, { ...texts.serverPage.askRemove(name), danger: true }))) return;
    await app.toasts.attempt(() => app.api.delete(`/v2/computes/${encodeURIComponent(compute_id)}`));
  };
  return (
    <li class="project-row compute">
      <span class={connected ? 'project-icon opened' : 'project-icon'}>
        <Icon name="server" size={20} />
      </span>
      <span class="project-text">
        <strong>{name}</strong>
        <small>
          {`${protocol}://${host}:${port} · ${capabilities.version ?? texts.serverPage.unknown} · `}
          {texts.serverPage.kinds(capabilities.node_types.length)}
        </small>
        {last_error && !connected && <small class="bad">{last_error}</small>}
      </span>
      <Load label={texts.serverPage.cpu} percent={compute.cpu_usage_percent} />
      <Load label={texts.serverPage.memory} percent={compute.memory_usage_percent} />
      <span class={connected ? 'chip opened' : 'chip'}>
        {connected ? texts.serverPage.connected : texts.serverPage.notConnected}
      </span>
      {compute_id !== ownId && (
        <Button icon="trash" kind="quiet" label={`${texts.serverPage.remove} ${name}`} onClick={() => void remove()} />
      )}
    </li>
  );
}

function Load({ label, percent }: { readonly label: string; readonly percent: number | null }) {
  if (percent === null) return null;
  return (
    <span class="load">
      <small>
        {label} {Math.round(percent)} %
      </small>
      <meter min={0} max={100} high={85} value={percent} aria-label={label} />
    </span>
  );
}
