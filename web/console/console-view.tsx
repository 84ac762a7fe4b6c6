/** The console of one node: its terminal or screen while it runs, otherwise a button that starts it. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Node } from '../../src/schema/node.ts';
import { runAction } from '../actions/action.ts';
import { getAction } from '../actions/actions.ts';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import type { ConsoleScreen, Terminal } from './surface.ts';

export function ConsoleView({ nodeId, visible }: { readonly nodeId: string; readonly visible: boolean }) {
  const { nodes } = useProject();
  const node = nodes.find(nodeId);
  if (!node) return <p class="console-note">{texts.nodeGone}</p>;
  if (node.status === 'stopped') return <NotStarted node={node} />;
  return <Surface nodeId={nodeId} type={node.console_type === 'vnc' ? 'vnc' : 'telnet'} visible={visible} />;
}

function NotStarted({ node: { node_id, name } }: { readonly node: Node }) {
  const app = useApp();
  const { selection } = useProject();
  // The request is answered now: the node's terminal must not take the focus when the node starts some time later.
  useLayoutEffect(() => app.consoles.received(node_id), [app, node_id, app.consoles.wanted.value]);
  return (
    <p class="console-note">
      {texts.notStarted(name)}{' '}
      <Button
        icon="play"
        onClick={() => {
          selection.set([node_id]);
          runAction(getAction('start'), app);
        }}
      >
        {texts.power.start.one}
      </Button>
    </p>
  );
}

interface SurfaceProps {
  readonly nodeId: string;
  readonly type: 'telnet' | 'vnc';
  readonly visible: boolean;
}

/** Takes the focus at once when the user opens it, and keeps typed text until its terminal is loaded. */
function Surface({ nodeId, type, visible }: SurfaceProps) {
  const { consoles } = useApp();
  const place = useRef<HTMLDivElement>(null);
  const finding = useSignal(false);
  const { surface, state } = useSurface({ nodeId, type, place, find: () => (finding.value = true) });
  const isWanted = consoles.wanted.value === nodeId;
  const focus = () => (surface.current ?? place.current)?.focus();
  useLayoutEffect(() => {
    if (!visible) return;
    // A button of the note in its place had the focus.
    if (isWanted || document.activeElement === document.body) focus();
    consoles.received(nodeId);
  }, [visible, isWanted]);
  return (
    <>
      <div ref={place} class={type === 'vnc' ? 'surface screen' : 'surface'} tabIndex={-1} />
      {state.value === 'lost' && <p class="console-state">{texts.consoleLost}</p>}
      {finding.value && (
        <FindBar
          find={(text, back) => (surface.current as Terminal | undefined)?.find(text, back) ?? false}
          close={() => {
            finding.value = false;
            focus();
          }}
        />
      )}
    </>
  );
}

/** Returns the characters that a terminal sends for a key of a line of text. */
function textOf({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  if (ctrlKey || metaKey || altKey) return '';
  return { Enter: '\r', Backspace: '\x7f' }[key] ?? (key.length === 1 ? key : '');
}

interface SurfaceParts extends Pick<SurfaceProps, 'nodeId' | 'type'> {
  readonly place: { readonly current: HTMLDivElement | null };
  readonly find: () => void;
}

/** The terminal or screen in its place: loaded when the first console opens. */
function useSurface({ nodeId, type, place, find }: SurfaceParts) {
  const { api, toasts, terminals } = useApp();
  const { path } = useProject();
  const surface = useRef<Terminal | ConsoleScreen | undefined>(undefined);
  const state = useSignal<'connecting' | 'open' | 'lost'>('connecting');
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const loaded = new AbortController();
    let typed = '';
    element.addEventListener('keydown', (event) => (typed += textOf(event)), { signal: loaded.signal });
    let ended = false;
    let removed: () => void = () => undefined;
    const options = {
      address: () => api.socket(`${path}/nodes/${nodeId}/console/ws`),
      state: (now: typeof state.value) => (state.value = now),
    };
    const open = async () => {
      if (type === 'vnc') {
        const { openScreen } = await import('./screen.ts');
        return () => openScreen(element, options);
      }
      const { openTerminal } = await import('./terminal.ts');
      const onTyped = (text: string) => terminals.typed(nodeId, text);
      return () => openTerminal(element, { ...options, typed, find, onTyped, fontPx: terminals.fontPx.peek() });
    };
    void toasts.attempt(async () => {
      const make = await open();
      loaded.abort();
      if (ended) return;
      surface.current = make();
      if (type !== 'vnc') removed = terminals.add(nodeId, surface.current as Terminal);
      // The focus stays where the user has moved it meanwhile.
      if (document.activeElement === element) surface.current.focus();
    });
    return () => {
      ended = true;
      removed();
      surface.current?.close();
      surface.current = undefined;
    };
  }, [nodeId, type, path]);
  useSignalEffect(() => {
    const fontPx = terminals.fontPx.value;
    if (surface.current && 'setFontPx' in surface.current) surface.current.setFontPx(fontPx);
  });
  return { surface, state };
}

function FindBar({ find, close }: { readonly find: (text: string, back: boolean) => boolean; readonly close: () => void }) {
  const text = useSignal('');
  const missed = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const run = (back: boolean) => {
    missed.value = text.value !== '' && !find(text.value, back);
  };
  return (
    <search class="find-bar">
      <input
        aria-label={texts.findInConsole}
        placeholder={texts.findInConsole}
        class={missed.value ? 'missed' : ''}
        ref={input}
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
