/** The view of one project: canvas in the middle, palette on the left, details on the right, consoles below. */
import type { FunctionComponent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ActionButton, ActionMenu } from '../actions/action-button.tsx';
import { actionsAt, getAction } from '../actions/actions.ts';
import { ConsoleArea } from '../console/console-area.tsx';
import { endNames } from '../scene/link-view.tsx';
import { PortMenu } from '../scene/port-menu.tsx';
import { Scene } from '../scene/scene.tsx';
import { type App, useApp, useProject } from '../state/app.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { focusCanvas } from '../ui/focus.ts';
import { Lazy } from '../ui/lazy.tsx';
import { MenuButton } from '../ui/menu-button.tsx';
import { Popup } from '../ui/popup.tsx';
import { Avatars } from './avatars.tsx';
import { Inspector } from './inspector.tsx';
import { Minimap } from './minimap.tsx';
import { Palette } from './palette.tsx';
import { projectCommands } from './project-commands.ts';
import { TopBar } from './top-bar.tsx';

const loadLabText = async () => (await import('./lab-text/lab-text-pane.tsx')).LabTextPane;
const loadNotes = async () => (await import('./notes/notes-pane.tsx')).NotesPane;
const loadTimeLine = async () => (await import('./time-line/time-line.tsx')).TimeLine;
const loadNotices = async () => {
  // The canvas and its panels come first.
  await new Promise((done) => setTimeout(done, 1000));
  return (await import('./notices/notices.tsx')).Notices;
};

export function ProjectPage() {
  const app = useApp();
  const { tools, toasts } = app;
  const project = useProject();
  const phase = project.phase.value;
  const message = project.message.value;
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The canvas gets the focus after keyboard navigation, so that its keys work.
    if (navigator.userActivation.hasBeenActive && document.activeElement === document.body) focusCanvas();
  }, []);
  useEffect(() => {
    const drop = (event: DragEvent) => takeFiles(app, project, event);
    area.current?.addEventListener('drop', drop);
    return () => area.current?.removeEventListener('drop', drop);
  }, [app, project, phase]);
  useEffect(() => {
    if (message) toasts.show(message.level === 'error' ? 'error' : 'info', message.message);
  }, [message, toasts]);
  if (phase === 'missing' || phase === 'closed') return <NotOpen />;
  return (
    <div class="page project-page">
      <ProjectBar />
      <main
        class={`workspace${tools.paletteOpen.value ? ' with-palette' : ''}${tools.inspectorOpen.value ? ' with-inspector' : ''}`}
      >
        {tools.paletteOpen.value && <Palette />}
        <div class="middle">
          <div class="canvas-area" ref={area}>
            <Scene />
            <ToolHint />
            {phase === 'opened' && project.nodes.ids.value.length > 0 && <Lazy load={loadNotices} props={{}} />}
            <ZoomBar />
            <Minimap />
            {phase === 'loading' && <p class="loading">{texts.openingProject}</p>}
            {phase === 'opened' && project.nodes.ids.value.length === 0 && project.drawings.ids.value.length === 0 && <EmptyHint />}
          </div>
          {tools.timeLineOpen.value && phase === 'opened' && (
            <div class="time-line-place">
              <Lazy load={loadTimeLine} props={{}} />
            </div>
          )}
          <ConsoleArea />
        </div>
        {tools.sidePane.value === 'lab-text' && <SidePane name="lab-text" label={texts.actions.labText} load={loadLabText} />}
        {tools.sidePane.value === 'notes' && phase === 'opened' && (
          <SidePane key={project.id} name="notes-pane" label={texts.actions.notes} load={loadNotes} />
        )}
        {tools.inspectorOpen.value && <Inspector />}
      </main>
      <ContextMenu />
      <PortMenu />
      <SelectionStatus />
    </div>
  );
}

/** Takes dropped files, by code that is loaded with the first of them. */
function takeFiles(app: App, project: ProjectState, event: DragEvent): void {
  const files = [...(event.dataTransfer?.files ?? [])];
  if (files.length === 0) return;
  event.preventDefault();
  const at = { x: event.clientX, y: event.clientY };
  void app.toasts.attempt(async () => {
    const { takeDroppedFiles } = await import('../catalog/dropped-files.tsx');
    await takeDroppedFiles(app, project, files, at);
  });
}

interface SidePaneProps {
  readonly name: string;
  readonly label: string;
  readonly load: () => Promise<FunctionComponent>;
}

function SidePane({ name, label, load }: SidePaneProps) {
  return (
    <aside class={`side-pane ${name}`} aria-label={label}>
      <Lazy load={load} props={{}} />
    </aside>
  );
}

function ProjectBar() {
  const app = useApp();
  const project = useProject().project.value;
  return (
    <TopBar>
      <a class="crumb" href="/">
        {texts.projects}
      </a>
      <span class="crumb-mark">/</span>
      <h1 class="project-name">{project?.name ?? '…'}</h1>
      {project && <MenuButton icon="down" label={texts.actionsOf(project.name ?? '')} entries={projectCommands(app, project)} />}
      <div class="toolbar" role="toolbar" aria-label={texts.tools}>
        <ActionButton action={getAction('palette')} />
        <span class="divider" />
        {['start-all', 'stop-all'].map((id) => (
          <ActionButton key={id} action={getAction(id)} withLabel />
        ))}
        <span class="divider" />
        {actionsAt('toolbar')
          .filter(({ group }) => group === 'edit' || group === 'draw')
          .map((action) => (
            <ActionButton key={action.id} action={action} />
          ))}
      </div>
      <span class="grow" />
      <Avatars />
      <ActionButton action={getAction('inspector')} />
    </TopBar>
  );
}

function ZoomBar() {
  const { viewport } = useApp();
  return (
    <div class="zoom-bar" role="toolbar" aria-label={texts.zoom}>
      <ActionButton action={getAction('zoom-out')} />
      <button type="button" class="zoom-figure" title={texts.actions.zoomReal} onClick={() => viewport.zoomTo(1)}>
        {Math.round(viewport.state.value.scale * 100)} %
      </button>
      <ActionButton action={getAction('zoom-in')} />
      <ActionButton action={getAction('fit')} />
      <ActionButton action={getAction('share-view')} />
      <ActionButton action={getAction('time-line')} />
    </div>
  );
}

/** Announces the selection to screen readers. */
function SelectionStatus() {
  const project = useProject();
  const { nodes, links } = project.selection;
  const [node] = nodes.value;
  const [link] = links.value;
  const one = node ? `${node.name}, ${texts.status[node.status]}` : link ? endNames(project, link).join(' – ') : '';
  const count = project.selection.ids.value.size;
  return (
    <p class="unseen" role="status">
      {count > 1 ? texts.selected(nodes.value.length, links.value.length, count - nodes.value.length - links.value.length) : one}
    </p>
  );
}

/** The hint of an empty canvas. If the palette is closed, as in narrow windows, it has a button that opens it. */
function EmptyHint() {
  const { tools } = useApp();
  const isOpen = tools.paletteOpen.value;
  return (
    <div class="canvas-hint">
      <p>{isOpen ? texts.emptyCanvas : texts.emptyCanvasClosed}</p>
      {!isOpen && <ActionButton action={getAction('palette')} withLabel kind="primary" />}
    </div>
  );
}

/** The next step of the current tool. */
function ToolHint() {
  const { tools } = useApp();
  const { nodes } = useProject();
  const tool = tools.tool.value;
  if (tool.name === 'select') return null;
  const from = tool.name === 'wire' && tool.from ? nodes.find(tool.from.node_id) : undefined;
  const port = from?.ports.find(
    (one) => tool.name === 'wire' && one.adapter_number === tool.from?.adapter_number && one.port_number === tool.from.port_number,
  );
  const text =
    tool.name === 'draw'
      ? texts.drawHint[tool.shape]
      : !from
        ? texts.wireFrom
        : tool.moves
          ? texts.moveEndFrom(from.name)
          : texts.wireTo(from.name, port?.name ?? '');
  return (
    <div class="tool-hint" role="status">
      {text} <kbd>Esc</kbd>
    </div>
  );
}

function ContextMenu() {
  const { tools } = useApp();
  const { selection } = useProject();
  const at = tools.menu.value;
  if (!at) return null;
  const place =
    selection.nodes.value.length > 0
      ? 'node'
      : selection.links.value.length > 0
        ? 'link'
        : selection.drawings.value.length > 0
          ? 'drawing'
          : 'canvas';
  const close = () => {
    tools.menu.value = undefined;
  };
  return (
    <Popup {...at} close={close} label={texts.menu}>
      <ActionMenu actions={actionsAt(place)} done={close} />
    </Popup>
  );
}

function NotOpen() {
  const { toasts, server } = useApp();
  const project = useProject();
  const missing = server.rights.account.value ? texts.projectHidden : texts.projectMissing;
  const isMissing = project.phase.value === 'missing';
  return (
    <div class="page">
      <TopBar />
      <main class="not-open">
        <h1>{isMissing ? missing : texts.projectClosed(project.project.value?.name ?? '')}</h1>
        <div class="row">
          {!isMissing && (
            <Button kind="primary" icon="folder" onClick={() => toasts.attempt(() => project.open())}>
              {texts.open}
            </Button>
          )}
          <a class="button plain" href="/">
            {texts.toProjects}
          </a>
        </div>
      </main>
    </div>
  );
}
