/** Opens the dialogs that analyse a capture. Loaded on first use. */
import type { App } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import type { CaptureReader } from '../capture-reader.ts';
import type { Packet } from '../pcap.ts';
import { PathDialog } from './path-dialog.tsx';
import { StatisticsDialog } from './statistics-dialog.tsx';
import { StreamDialog } from './stream-dialog.tsx';

export const openStatistics = (app: App, { store }: CaptureReader): void =>
  app.dialogs.show((close) => <StatisticsDialog store={store} close={close} />);

export const openStream = (app: App, { store }: CaptureReader, packet: Packet): void =>
  app.dialogs.show((close) => <StreamDialog packets={store.packets.slice()} chosen={packet} close={close} />);

export function openPath(
  app: App,
  project: ProjectState,
  { packet, ownFile }: { readonly packet: Packet; readonly ownFile: string | undefined },
): void {
  app.dialogs.show((close) => <PathDialog packet={packet} project={project} ownFile={ownFile} close={close} />);
}
