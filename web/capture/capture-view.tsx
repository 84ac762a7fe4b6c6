/** The capture of one link: its commands, the table of packets, and the selected packet in detail. Loaded on first use. */
import './capture.css';
import { useComputed } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { useApp, useProject } from '../state/app.ts';
import { captureTab } from '../state/console-dock.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { startCapture, stopCapture } from './capture-dialog.tsx';
import { CaptureReader } from './capture-reader.ts';
import { PacketDetail } from './packet-detail.tsx';
import { PacketTable } from './packet-table.tsx';
import { pcapFile } from './pcap.ts';
import { wiresharkAddress } from './wireshark.ts';

export function CaptureView({ linkId }: { readonly linkId: string }) {
  const { api, consoles } = useApp();
  const { links, path } = useProject();
  const link = links.find(linkId);
  const reader = consoles.contentOf(captureTab(linkId), () => new CaptureReader(api, path));
  const { chosen } = reader;
  const isCapturing = useComputed(() => links.find(linkId)?.capturing === true);
  useEffect(
    () =>
      isCapturing.subscribe(() => {
        const current = links.peek(linkId);
        if (current) reader.follow(current);
      }),
    [reader, isCapturing],
  );
  const packet = useComputed(() => {
    reader.store.version.value;
    return reader.store.find(chosen.value);
  });
  if (!link) return <p class="console-note">{texts.capture.linkGone}</p>;
  return (
    <div class="capture">
      <CaptureBar reader={reader} linkId={linkId} />
      <div class="capture-body">
        <PacketTable store={reader.store} chosen={chosen} />
        {packet.value && (
          <PacketDetail packet={packet.value} linkType={reader.store.linkType} close={() => (chosen.value = undefined)} />
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
    <div class="capture-bar">
      {link.capturing ? (
        <Button icon="stop" onClick={() => stopCapture(app, project, linkId)}>
          {texts.capture.stop}
        </Button>
      ) : (
        <Button icon="record" onClick={() => startCapture(app, project, link)}>
          {texts.capture.start}
        </Button>
      )}
      <FilterField reader={reader} />
      <Counts reader={reader} />
      <span class="grow" />
      <Button
        icon="download"
        kind="quiet"
        label={texts.capture.download}
        onClick={() =>
          save(
            pcapFile(reader.store.shown, reader.store.linkType),
            `${link.capture_file_name?.replace(/\.pcap$/, '') ?? 'capture'}.pcap`,
          )
        }
      />
      {link.capturing && (
        <a
          class="button quiet"
          href={wiresharkAddress(new URL(location.href), link, `${name} ${link.capture_file_name ?? ''}`.trim())}
        >
          {texts.capture.wireshark}
        </a>
      )}
    </div>
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

function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser opens the URL when the click returns, or soon after.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
