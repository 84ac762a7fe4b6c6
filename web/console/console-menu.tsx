/** The commands of a pane of consoles. */

import { consolePath } from '../router.ts';
import { type App, useApp, useProject } from '../state/app.ts';
import { type ConsolePane, captureOfTab } from '../state/console-dock.ts';
import type { ProjectState } from '../state/project.ts';
import { sizeCommand } from '../state/terminals.ts';
import { texts } from '../texts.ts';
import { MenuButton, type MenuEntry } from '../ui/menu-button.tsx';
import { saveFile } from '../ui/save-file.ts';

export function ConsoleMenu({ pane }: { readonly pane: ConsolePane }) {
  const app = useApp();
  return <MenuButton label={texts.consoleMenu.title} entries={entriesOf(app, useProject(), pane)} />;
}

function entriesOf(app: App, project: ProjectState, { active }: ConsolePane): MenuEntry[] {
  const { consoles, terminals } = app;
  const terminal = terminals.find(active);
  const name = project.nodes.find(active)?.name ?? 'console';
  const menu = texts.consoleMenu;
  const entry = (label: string, icon: MenuEntry['icon'], run: () => unknown): MenuEntry => ({ label, icon, run });
  const ofTerminal = terminal
    ? [
        entry(menu.log, 'download', () => saveFile(new Blob([terminal.text()], { type: 'text/plain' }), `${name}.log`)),
        entry(menu.size, 'terminal', () => terminal.send(sizeCommand(terminal))),
      ]
    : [];
  const address = consolePath(project.id, active);
  const ofNode =
    captureOfTab(active) === undefined
      ? [entry(menu.window, 'panel', () => open(address, '_blank', 'popup,width=900,height=600'))]
      : [];
  const isMany = consoles.panes.value.length > 1;
  return [
    entry(consoles.isMaximised.value ? menu.restore : menu.maximise, 'fit', () => consoles.toggleMaximised()),
    ...(isMany ? [entry(menu.merge, 'terminal', () => consoles.merge())] : []),
    entry(menu.larger, 'plus', () => terminals.zoom(1)),
    entry(menu.smaller, 'minus', () => terminals.zoom(-1)),
    ...ofTerminal,
    ...ofNode,
    entry(
      terminals.isShared.value ? menu.single : menu.shared,
      'edit',
      () => (terminals.isShared.value = !terminals.isShared.peek()),
    ),
  ];
}
