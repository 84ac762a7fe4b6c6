/** The content of a dock tab: a node's console or a link's capture. */
import { useSignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { endNames } from '../scene/link-view.tsx';
import { useApp } from '../state/app.ts';
import { linkOfTab } from '../state/console-dock.ts';
import type { ProjectState } from '../state/project.ts';
import { texts } from '../texts.ts';
import { ConsoleView } from './console-view.tsx';

export function tabLook(project: ProjectState, tab: string): { readonly name: string; readonly state: string } {
  const linkId = linkOfTab(tab);
  if (linkId === undefined) {
    const node = project.nodes.find(tab);
    return { name: node?.name ?? texts.nodeGone, state: node?.status ?? 'stopped' };
  }
  const link = project.links.find(linkId);
  if (!link) return { name: texts.capture.linkGone, state: 'stopped' };
  return { name: endNames(project, link).join(' – '), state: link.capturing ? 'capturing' : 'stopped' };
}

export function DockContent({ tab, visible }: { readonly tab: string; readonly visible: boolean }) {
  const linkId = linkOfTab(tab);
  return linkId === undefined ? <ConsoleView nodeId={tab} visible={visible} /> : <Capture linkId={linkId} />;
}

/** Loaded when the first capture opens. */
function Capture({ linkId }: { readonly linkId: string }) {
  const { toasts } = useApp();
  const loaded = useSignal<{ readonly View: FunctionComponent<{ linkId: string }> } | undefined>(undefined);
  useEffect(() => {
    void toasts.attempt(async () => {
      const { CaptureView } = await import('../capture/capture-view.tsx');
      loaded.value = { View: CaptureView };
    });
  }, [toasts, loaded]);
  if (!loaded.value) return <p class="console-note">{texts.loading}</p>;
  const { View } = loaded.value;
  return <View linkId={linkId} />;
}
