/** The console of one node: its terminal or screen while it runs, otherwise a button that starts it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { runAction } from '../actions/action.ts';
import { getAction } from '../actions/actions.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import type { ConsoleScreen, Terminal } from './surface.ts';

export function ConsoleView({ nodeId, visible }: { readonly nodeId: string; readonly visible: boolean }) {
  const app = useApp();
  const { nodes, selection } = useProject();
  const node = nodes.find(nodeId);
  if (!node) return <p class="console-note">{texts.nodeGone}</p>;
  if (node.status === 'stopped')
    return (
      <p class="console-note">
        {texts.notStarted(node.name)}{' '}
        <Button
          icon="play"
          onClick={() => {
            selection.set([nodeId]);
            runAction(getAction('start'), app);
          }}
        >
          {texts.power.start.one}
        </Button>
      </p>
    );
  return <Surface nodeId={nodeId} type={node.console_type === 'vnc' ? 'vnc' : 'telnet'} visible={visible} />;
}

interface SurfaceProps {
  readonly nodeId: string;
  readonly type: 'telnet' | 'vnc';
  readonly visible: boolean;
}

function Surface({ nodeId, type, visible }: SurfaceProps) {
  const { api, toasts } = useApp();
  const { path } = useProject();
  const place = useRef<HTMLDivElement>(null);
  const surface = useRef<Terminal | ConsoleScreen | undefined>(undefined);
  const state = useSignal<'connecting' | 'open' | 'lost'>('connecting');
  const finding = useSignal(false);
  useEffect(() => {
    let ended = false;
    const options = {
      address: () => api.socket(`${path}/nodes/${nodeId}/console/ws`),
      state: (now: typeof state.value) => (state.value = now),
    };
    const make = async (element: HTMLElement) => {
      // Loaded when the first console opens.
      const made =
        type === 'vnc'
          ? (await import('./screen.ts')).openScreen(element, options)
          : (await import('./terminal.ts')).openTerminal(element, { ...options, find: () => (finding.value = true) });
      if (ended) made.close();
      else {
        surface.current = made;
        made.shown();
      }
    };
    if (place.current) void toasts.attempt(() => make(place.current as HTMLElement));
    return () => {
      ended = true;
      surface.current?.close();
      surface.current = undefined;
    };
  }, [nodeId, type, path]);
  useEffect(() => {
    if (visible) surface.current?.shown();
  }, [visible]);
  return (
    <>
      <div ref={place} class={type === 'vnc' ? 'surface screen' : 'surface'} />
      {state.value === 'lost' && <p class="console-state">{texts.consoleLost}</p>}
      {finding.value && (
        <FindBar
          find={(text, back) => (surface.current as Terminal | undefined)?.find(text, back) ?? false}
          close={() => {
            finding.value = false;
            surface.current?.shown();
          }}
        />
      )}
    </>
  );
}

function FindBar({ find, close }: { readonly find: (text: string, back: boolean) => boolean; readonly close: () => void }) {
  const text = useSignal('');
  const missed = useSignal(false);
  const run = (back: boolean) => {
    missed.value = text.value !== '' && !find(text.value, back);
  };
  return (
    <search class="find-bar">
      <input
        aria-label={texts.findInConsole}
        placeholder={texts.findInConsole}
        class={missed.value ? 'missed' : ''}
        ref={(input) => {
          if (text.peek() === '') input?.focus();
        }}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          run(true);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
          else if (event.key === 'Enter') run(!event.shiftKey);
        }}
      />
      <Button kind="quiet" onClick={() => run(true)}>
        {texts.previous}
      </Button>
      <Button kind="quiet" onClick={() => run(false)}>
        {texts.next}
      </Button>
      <Button icon="close" kind="quiet" label={texts.close} onClick={close} />
    </search>
  );
}
