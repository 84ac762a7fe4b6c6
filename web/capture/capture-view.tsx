/** The capture of one link: its commands, the table of packets, and the selected packet in detail. Loaded on first use. */
import './capture.css';
import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { useApp, useProject } from '../state/app.ts';
import { captureOfTab } from '../state/console-dock.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { saveFile } from '../ui/save-file.ts';
import { analysisTexts } from './analysis/analysis-texts.ts';
import { startCapture, stopCapture } from './capture-dialog.tsx';
import { CaptureReader } from './capture-reader.ts';
import { PacketDetail } from './packet-detail.tsx';
import { PacketTable } from './packet-table.tsx';
import { pcapFile } from './pcap.ts';
import { wiresharkAddress } from './wireshark.ts';

/** `tab` of the dock: the capture of a link, or a capture file. */
export function CaptureView({ tab }: { readonly tab: string }) {
  const { api, consoles } = useApp();
  const { links, path, phase } = useProject();
  const capture = captureOfTab(tab);
  const reader = consoles.contentOf(tab, () => new CaptureReader(api, path));
  if (capture && 'file' in capture) return <FileCapture reader={reader} name={capture.file} />;
  const linkId = capture?.linkId ?? '';
  if (phase.value === 'loading') return <div class="capture" />;
  if (!links.find(linkId)) return <LostCapture reader={reader} />;
  return <LinkCapture reader={reader} linkId={linkId} />;
}

function FileCapture({ reader, name }: { readonly reader: CaptureReader; readonly name: string }) {
  useEffect(() => reader.open(name), [reader, name]);
  return (
    <Packets reader={reader} fileName={name}>
      <CaptureTools reader={reader} fileName={name} />
    </Packets>
  );
}

/** The packets of a link that was deleted, as far as they were read. */
function LostCapture({ reader }: { readonly reader: CaptureReader }) {
  return (
    <Packets reader={reader} fileName={undefined}>
      <strong>{texts.capture.linkGone}</strong>
      <CaptureTools reader={reader} fileName="capture.pcap" />
    </Packets>
  );
}

function LinkCapture({ reader, linkId }: { readonly reader: CaptureReader; readonly linkId: string }) {
  const { links } = useProject();
  const isCapturing = useComputed(() => links.find(linkId)?.capturing === true);
  useEffect(() => {
    let isFirst = true;
    return isCapturing.subscribe(() => {
      const current = links.peek(linkId);
      if (current) reader.follow(current, !isFirst);
      isFirst = false;
    });
  }, [reader, isCapturing]);
  return (
    <Packets reader={reader} fileName={links.find(linkId)?.capture_file_name ?? undefined}>
      <CaptureBar reader={reader} linkId={linkId} />
    </Packets>
  );
}

interface PacketsProps {
  readonly reader: CaptureReader;
  /** Name of the file that the packets are from. */
  readonly fileName: string | undefined;
  readonly children: ComponentChildren;
}

/** The table, and the selected packet, below the commands. */
function Packets({ reader, fileName, children }: PacketsProps) {
  const app = useApp();
  const project = useProject();
  const { chosen } = reader;
  const analyse = (run: (analysis: typeof import('./analysis/open-analysis.tsx')) => void) =>
    app.toasts.attempt(async () => run(await import('./analysis/open-analysis.tsx')));
  const packet = useComputed(() => {
    reader.store.version.value;
    return reader.store.find(chosen.value);
  });
  return (
    <div class="capture">
      <div class="capture-bar">{children}</div>
      <div class="capture-body">
        <PacketTable store={reader.store} chosen={chosen} />
        {packet.value && (
          <PacketDetail
            packet={packet.value}
            linkType={reader.store.linkType}
            close={() => (chosen.value = undefined)}
            follow={(one) => analyse(({ openStream }) => openStream(app, reader, one))}
            showPath={(one) => analyse(({ openPath }) => openPath(app, project, { packet: one, ownFile: fileName }))}
          />
        )}
      </div>
    </div>
  );
}

function CaptureBar({ reader, linkId }: { readonly reader: CaptureReader; readonly linkId: string }) {
  const app = useApp();
  const project = useProject();
  const link = project.links.find(linkId);
  if (!link) return null;
  const name = project.project.value?.name ?? '';
  return (
    <>
      {link.capturing ? (
        <Button icon="stop" onClick={() => stopCapture(app, project, linkId)}>
          {texts.capture.stop}
        </Button>
      ) : (
        <Button icon="record" onClick={() => startCapture(app, project, link)}>
          {texts.capture.start}
        </Button>
      )}
      <CaptureTools reader={reader} fileName={link.capture_file_name ?? 'capture.pcap'} />
      {link.capturing && (
        <a
          class="button quiet"
          href={wiresharkAddress(new URL(location.href), link, `${name} ${link.capture_file_name ?? ''}`.trim())}
        >
          {texts.capture.wireshark}
        </a>
      )}
    </>
  );
}

function CaptureTools({ reader, fileName }: { readonly reader: CaptureReader; readonly fileName: string }) {
  const app = useApp();
  const showStatistics = () =>
    app.toasts.attempt(async () => {
      const { openStatistics } = await import('./analysis/open-analysis.tsx');
      openStatistics(app, reader);
    });
  return (
    <>
      <FilterField reader={reader} />
      <Counts reader={reader} />
      <span class="grow" />
      <Button icon="chart" kind="quiet" label={analysisTexts.statistics} onClick={showStatistics} />
      <Button
        icon="download"
        kind="quiet"
        label={texts.capture.download}
        onClick={() => saveFile(pcapFile(reader.store.shown, reader.store.linkType), `${fileName.replace(/(\.pcap)?$/, '')}.pcap`)}
      />
    </>
  );
}

function FilterField({ reader }: { readonly reader: CaptureReader }) {
  const noteId = useId();
  const note = reader.filterNote.value;
  return (
    <>
      <label class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label={texts.capture.filter}
          title={texts.capture.filterHint}
          placeholder={texts.capture.filterExample}
          value={reader.filterText.value}
          aria-invalid={note?.isWrong === true}
          aria-describedby={note ? noteId : undefined}
          onInput={({ currentTarget }) => reader.filter(currentTarget.value)}
        />
      </label>
      {note && (
        <small id={noteId} role="status" class={note.isWrong ? 'bad' : ''}>
          {note.words}
        </small>
      )}
    </>
  );
}

function Counts({ reader }: { readonly reader: CaptureReader }) {
  const { store, state, failure } = reader;
  store.version.value;
  if (state.value === 'failed') return <small class="bad">{failure.value}</small>;
  return (
    <small role="status">
      {texts.capture.state[state.value]} {texts.capture.counts(store.shown.length, store.kept)}
      {store.forgotten > 0 && ` ${texts.capture.forgotten(store.forgotten)}`}
    </small>
  );
}
