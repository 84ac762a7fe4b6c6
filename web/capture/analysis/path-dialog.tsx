/** Shows the same frame in the captures of several links, with the time between them. */
import './analysis.css';
import type { CaptureFile } from '../../../src/schema/capture.ts';
import { useApp } from '../../state/app.ts';
import { captureFileTab, captureTab } from '../../state/console-dock.ts';
import type { ProjectState } from '../../state/project.ts';
import { texts as pageTexts } from '../../texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { captureFilePath, openDock } from '../capture-files.ts';
import type { Packet } from '../pcap.ts';
import { analysisTexts } from './analysis-texts.ts';
import { type FramePath, findFrame, type Sighting } from './frame-path.ts';
import { useWork } from './use-work.ts';

const texts = analysisTexts.frame;

interface PathProps {
  readonly packet: Packet;
  readonly project: ProjectState;
  /** The capture file that shows the packet. */
  readonly ownFile: string | undefined;
  readonly close: () => void;
}

export function PathDialog({ packet, project, ownFile, close }: PathProps) {
  const { api } = useApp();
  const { result, done, failure } = useWork(async (signal, onProgress) => {
    const files = await api.get<CaptureFile[]>(`${project.path}/captures`);
    const pathOf = (name: string) => captureFilePath(project, name);
    return { files, path: await findFrame(packet, { api, pathOf, files, ownFile, signal, onProgress }) };
  });
  const found = result.value?.value;
  return (
    <Dialog title={texts.title(packet.number)} close={close} wide>
      <p>
        <small>{texts.note}</small>
      </p>
      {failure.value && <p role="alert">{failure.value}</p>}
      {!found && !failure.value && <p role="status">{texts.searching(done.value)}</p>}
      {found && !found.path && <p class="empty">{pageTexts.capture.cut}</p>}
      {found?.path && <Found path={found.path} files={found.files} project={project} ownFile={ownFile ?? ''} close={close} />}
    </Dialog>
  );
}

interface FoundProps {
  readonly path: FramePath;
  readonly files: readonly CaptureFile[];
  readonly project: ProjectState;
  readonly ownFile: string;
  readonly close: () => void;
}

function Found({ path: { sightings, unread, isLimited }, files, project, ownFile, close }: FoundProps) {
  const app = useApp();
  const [first, last] = [sightings[0], sightings.at(-1)];
  const open = (file: string) => {
    const linkId = files.find(({ name }) => name === file)?.link_id;
    openDock(app, linkId ? captureTab(linkId) : captureFileTab(file));
    close();
  };
  return (
    <>
      {sightings.length === 1 && <p class="empty">{texts.alone}</p>}
      {sightings.length > 1 && (
        <table class="path-table">
          <tbody>
            {sightings.map((one, place) => (
              <tr key={one.file} class={one.file === ownFile ? 'own' : undefined}>
                <td>
                  <Hop one={one} name={nameOf(one.file, files, project)} isOwn={one.file === ownFile} />
                </td>
                <td>{one.hops !== undefined && texts.ttl(one.hops)}</td>
                <td>{place === 0 ? texts.first : texts.later(one.timeMs - (sightings[place - 1]?.timeMs ?? one.timeMs))}</td>
                <td>
                  {one.file !== ownFile && (
                    <Button onClick={() => open(one.file)} label={`${pageTexts.open} ${one.file}`}>
                      {pageTexts.open}
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p role="status">
        <small>
          {first && last && first !== last && texts.total(last.timeMs - first.timeMs)} {unread > 0 && texts.remote(unread)}{' '}
          {isLimited && texts.limited} {project.nodes.all.value.some(({ compute_id }) => compute_id !== 'local') && texts.clocks}
        </small>
      </p>
    </>
  );
}

function Hop({ one, name, isOwn }: { readonly one: Sighting; readonly name: string; readonly isOwn: boolean }) {
  const facts = [name === one.file ? '' : one.file, pageTexts.capture.packet(one.packet), isOwn ? texts.here : ''];
  if (one.copies > 1) facts.push(texts.copies(one.copies));
  return (
    <span class="path-hop">
      <strong class="path-step">{name}</strong>
      <small>{facts.filter(Boolean).join(' · ')}</small>
    </span>
  );
}

/** The nodes of the link that shows the file as its capture; else the name of the file. */
function nameOf(file: string, files: readonly CaptureFile[], { links, nodes }: ProjectState): string {
  const link = links.peek(files.find(({ name }) => name === file)?.link_id ?? '');
  return link?.nodes.map(({ node_id }) => nodes.peek(node_id)?.name ?? '').join(' – ') ?? file;
}
