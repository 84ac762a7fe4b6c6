/** A snapshot on the timeline: its content and its commands. */
import { useSignal } from '@preact/signals';
import type { Snapshot, SnapshotMemory } from '../../src/schema/snapshot.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { sizeText } from '../ui/progress.tsx';
import { snapshotTexts } from './snapshot-texts.ts';

export interface SnapshotActions {
  restore(snapshot: Snapshot): Promise<void>;
  fork(snapshot: Snapshot, count: number): Promise<void>;
  keep(snapshot: Snapshot): Promise<void>;
  remove(snapshot: Snapshot): Promise<void>;
}

interface SnapshotRowProps {
  readonly snapshot: Snapshot;
  /** Size on disk; undefined while it is not known. */
  readonly bytes: number | undefined;
  readonly isBusy: boolean;
  readonly actions: SnapshotActions;
}

const mostForks = 50;

export function SnapshotRow({ snapshot, bytes, isBusy, actions }: SnapshotRowProps) {
  const { name, memory, checkpoint } = snapshot;
  const count = useSignal(1);
  const isDisabled = isBusy || memory?.status === 'saving';
  const taken = new Date(snapshot.created_at * 1000);
  return (
    <li class={checkpoint ? 'checkpoint' : undefined}>
      <span>
        <strong>{checkpoint ? snapshotTexts.checkpoint : name}</strong>
        <small>
          <time dateTime={taken.toISOString()}>{taken.toLocaleString()}</time>
          {bytes !== undefined && ` · ${snapshotTexts.sizeOf(sizeText(bytes))}`}
        </small>
        {memory && <MemoryFacts memory={memory} />}
      </span>
      <Button onClick={() => void actions.restore(snapshot)} disabled={isDisabled}>
        {memory ? snapshotTexts.rewindHere : snapshotTexts.restore}
      </Button>
      {memory && (
        <>
          <input
            type="number"
            class="fork-count"
            aria-label={snapshotTexts.forkCount(name)}
            min={1}
            max={mostForks}
            value={count.value}
            onInput={({ currentTarget: { valueAsNumber } }) => (count.value = Math.min(mostForks, Math.max(1, valueAsNumber || 1)))}
          />
          <Button title={snapshotTexts.forkHint} onClick={() => void actions.fork(snapshot, count.value)} disabled={isDisabled}>
            {snapshotTexts.forkHere}
          </Button>
        </>
      )}
      {checkpoint && (
        <Button title={snapshotTexts.keepHint} onClick={() => void actions.keep(snapshot)} disabled={isDisabled}>
          {snapshotTexts.keep}
        </Button>
      )}
      <Button icon="trash" kind="quiet" label={texts.deleteNamed(name)} onClick={() => void actions.remove(snapshot)} />
    </li>
  );
}

export function MemoryFacts({ memory: { status, bytes, paused_ms, cold } }: { readonly memory: SnapshotMemory }) {
  const words = status === 'ready' ? snapshotTexts.memoryOf(sizeText(bytes), paused_ms) : snapshotTexts.memoryStatus[status];
  return (
    <>
      <small>{words}</small>
      {cold.length > 0 && (
        <small title={cold.map(({ name, reason }) => `${name}: ${reason}`).join('\n')}>
          {snapshotTexts.startsCold(cold.map(({ name }) => name).join(', '))}
        </small>
      )}
    </>
  );
}
