/** One snapshot in the list: what it holds, and what can be done with it. */
import { useSignal } from '@preact/signals';
import type { Snapshot, SnapshotMemory } from '../../src/schema/snapshot.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { sizeText } from '../ui/progress.tsx';

export interface SnapshotActions {
  restore(snapshot: Snapshot): Promise<void>;
  fork(snapshot: Snapshot, count: number): Promise<void>;
  remove(snapshot: Snapshot): Promise<void>;
}

interface SnapshotRowProps {
  readonly snapshot: Snapshot;
  readonly isBusy: boolean;
  readonly actions: SnapshotActions;
}

const mostForks = 50;

export function SnapshotRow({ snapshot, isBusy, actions }: SnapshotRowProps) {
  const { name, memory } = snapshot;
  const count = useSignal(1);
  const isDisabled = isBusy || memory?.status === 'saving';
  return (
    <li>
      <span>
        <strong>{name}</strong>
        <small>{new Date(snapshot.created_at * 1000).toLocaleString()}</small>
        {memory && <MemoryFacts memory={memory} />}
      </span>
      <Button onClick={() => void actions.restore(snapshot)} disabled={isDisabled}>
        {memory ? texts.rewind : texts.restore}
      </Button>
      {memory && (
        <>
          <input
            type="number"
            class="fork-count"
            aria-label={texts.forkCount(name)}
            min={1}
            max={mostForks}
            value={count.value}
            onInput={({ currentTarget: { valueAsNumber } }) => (count.value = Math.min(mostForks, Math.max(1, valueAsNumber || 1)))}
          />
          <Button title={texts.forkHint} onClick={() => void actions.fork(snapshot, count.value)} disabled={isDisabled}>
            {texts.fork}
          </Button>
        </>
      )}
      <Button icon="trash" kind="quiet" label={texts.deleteNamed(name)} onClick={() => void actions.remove(snapshot)} />
    </li>
  );
}

function MemoryFacts({ memory: { status, bytes, paused_ms, cold } }: { readonly memory: SnapshotMemory }) {
  const words = status === 'ready' ? texts.memoryOf(sizeText(bytes), paused_ms) : texts.memoryStatus[status];
  return (
    <>
      <small>{words}</small>
      {cold.length > 0 && (
        <small title={cold.map(({ name, reason }) => `${name}: ${reason}`).join('\n')}>
          {texts.startsCold(cold.map(({ name }) => name).join(', '))}
        </small>
      )}
    </>
  );
}
