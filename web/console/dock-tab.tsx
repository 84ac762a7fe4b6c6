/** The content of a dock tab: a node's console or a link's capture. */
import { endNames } from '../scene/link-view.tsx';
import { captureOfTab } from '../state/console-dock.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { Lazy } from '../ui/lazy.tsx';
import { ConsoleView } from './console-view.tsx';

export function tabLook(project: ProjectState, tab: string): { readonly name: string; readonly state: string } {
  const capture = captureOfTab(tab);
  if (capture === undefined) {
    const node = project.nodes.find(tab);
    return { name: node?.name ?? texts.nodeGone, state: node?.status ?? 'stopped' };
  }
  if ('file' in capture) return { name: capture.file, state: 'stopped' };
  const link = project.links.find(capture.linkId);
  if (!link) return { name: project.phase.value === 'loading' ? '…' : texts.capture.linkGone, state: 'stopped' };
  return { name: endNames(project, link).join(' – '), state: link.capturing ? 'capturing' : 'stopped' };
}

export function DockContent({ tab, visible }: { readonly tab: string; readonly visible: boolean }) {
  return captureOfTab(tab) === undefined ? (
    <ConsoleView nodeId={tab} visible={visible} />
  ) : (
    <Lazy load={loadCapture} props={{ tab }} />
  );
}

/** Loaded when the first capture opens. */
const loadCapture = async () => (await import('../capture/capture-view.tsx')).CaptureView;
