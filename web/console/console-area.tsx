/** The dock at the foot of the page: panes side by side, each with tabs. The user sets its height. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useApp, useProject } from '../state/app.ts';
import { type ConsolePane, captureOfTab } from '../state/console-dock.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { MenuButton, type MenuEntry } from '../ui/menu-button.tsx';
import { tabKeys } from '../ui/tab-keys.ts';
import { ConsoleMenu } from './console-menu.tsx';
import { DockContent, tabLook } from './dock-tab.tsx';

const lowestPx = 120;
const stepPx = 24;

export function ConsoleArea() {
  const { consoles, terminals } = useApp();
  const panes = consoles.panes.value;
  if (panes.length === 0) return null;
  return (
    <section
      class={consoles.isMaximised.value ? 'consoles maximised' : 'consoles'}
      aria-label={texts.consoles}
      style={consoles.isMaximised.value ? {} : { height: `${consoles.heightPx.value}px` }}
    >
      <Handle />
      {terminals.isShared.value && (
        <p class="shared-typing" role="status">
          {texts.sharedTyping}
          <Button onClick={() => (terminals.isShared.value = false)}>{texts.consoleMenu.single}</Button>
        </p>
      )}
      <div class="panes">
        {panes.map((pane) => (
          <Pane key={pane.id} pane={pane} />
        ))}
      </div>
    </section>
  );
}

/** Dragged with the pointer or moved with arrow keys. */
function Handle() {
  const { consoles } = useApp();
  const start = useRef<{ y: number; height: number } | undefined>(undefined);
  const set = (height: number) => {
    consoles.heightPx.value = Math.round(Math.max(lowestPx, Math.min(innerHeight - 160, height)));
  };
  return (
    <hr
      class="handle"
      aria-orientation="horizontal"
      aria-label={texts.consoleHeight}
      aria-valuenow={consoles.heightPx.value}
      tabIndex={0}
      onPointerDown={(event) => {
        start.current = { y: event.clientY, height: consoles.heightPx.peek() };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={({ clientY }) => start.current && set(start.current.height + start.current.y - clientY)}
      onPointerUp={() => {
        start.current = undefined;
      }}
      onKeyDown={(event) => {
        const step = { ArrowUp: stepPx, ArrowDown: -stepPx }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        set(consoles.heightPx.peek() + step);
      }}
    />
  );
}

function Pane({ pane }: { readonly pane: ConsolePane }) {
  const { consoles } = useApp();
  const isCurrent = consoles.current.value === pane.id;
  return (
    <div class={isCurrent ? 'pane current' : 'pane'} onFocusIn={() => (consoles.current.value = pane.id)}>
      <TabBar pane={pane} />
      {pane.tabs.map((nodeId) => (
        <div
          key={nodeId}
          class="console"
          role="tabpanel"
          id={`console-${nodeId}`}
          aria-labelledby={`tab-${nodeId}`}
          hidden={pane.active !== nodeId}
        >
          <DockContent tab={nodeId} visible={pane.active === nodeId} />
        </div>
      ))}
    </div>
  );
}

function TabBar({ pane }: { readonly pane: ConsolePane }) {
  const { consoles } = useApp();
  const project = useProject();
  const list = useRef<HTMLDivElement>(null);
  const tabs = pane.tabs.map((tab) => ({ tab, ...tabLook(project, tab) }));
  const activeName = tabs.find(({ tab }) => tab === pane.active)?.name ?? '';
  const activate = (tab = pane.active, takesFocus?: boolean) => consoles.activate(pane.id, tab, takesFocus);
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pane.active, pane.tabs.length]);
  const entries = tabs.map(
    ({ tab, name }): MenuEntry => ({
      label: name,
      icon: captureOfTab(tab) === undefined ? 'terminal' : 'packets',
      run: () => activate(tab),
    }),
  );
  return (
    <div class="tabs">
      <div
        ref={list}
        class="tab-list"
        role="tablist"
        aria-label={texts.consoles}
        onKeyDown={(event) => tabKeys(event, (place) => activate(pane.tabs[place], false))}
      >
        {tabs.map(({ tab, name, state }) => (
          <button
            key={tab}
            type="button"
            role="tab"
            class={tab === pane.active ? 'tab active' : 'tab'}
            id={`tab-${tab}`}
            aria-selected={tab === pane.active}
            tabIndex={tab === pane.active ? 0 : -1}
            aria-controls={`console-${tab}`}
            onClick={() => activate(tab)}
            onAuxClick={({ button }) => button === 1 && consoles.close(tab)}
          >
            <span class={`dot ${state}`} />
            {name}
          </button>
        ))}
      </div>
      {tabs.length > 1 && <MenuButton icon="down" label={texts.allConsoles} entries={entries} />}
      <Button
        icon="split"
        kind="quiet"
        label={texts.splitConsole}
        disabled={tabs.length < 2}
        onClick={() => consoles.split(pane.active)}
      />
      <ConsoleMenu pane={pane} />
      <Button icon="close" kind="quiet" label={texts.closeConsole(activeName)} onClick={() => consoles.close(pane.active)} />
    </div>
  );
}
