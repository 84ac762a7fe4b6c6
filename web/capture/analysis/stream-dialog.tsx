/** The TCP stream of a packet: both directions, as text or in hexadecimal digits. */
import './analysis.css';
import { useSignal } from '@preact/signals';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ChoiceField } from '../../ui/field.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { hexLines } from '../hex.ts';
import type { Packet } from '../pcap.ts';
import { analysisTexts } from './analysis-texts.ts';
import { followStream, mostBytes, type StreamPiece, type TcpStream } from './tcp-stream.ts';
import { useWork } from './use-work.ts';

const texts = analysisTexts.stream;
/** Shown; more makes the browser slow. Bytes. */
const mostShown = 256 * 1024;
/** Pieces that are shown. */
const mostPieces = 2_000;

/** The keys that scroll work in it. */
const scrollable = { tabIndex: 0, role: 'region', 'aria-label': analysisTexts.follow } as const;

type Form = 'text' | 'hex';
type Direction = 'both' | '0' | '1';

interface StreamProps {
  readonly packets: readonly Packet[];
  readonly chosen: Packet;
  readonly close: () => void;
}

export function StreamDialog({ packets, chosen, close }: StreamProps) {
  const { result, done, failure } = useWork((signal, onProgress) => followStream(packets, chosen, { signal, onProgress }));
  const stream = result.value?.value;
  return (
    <Dialog title={stream ? texts.title(...stream.ends) : analysisTexts.follow} close={close} wide>
      {failure.value && <p role="alert">{failure.value}</p>}
      {!result.value && !failure.value && <p role="status">{analysisTexts.working(done.value)}</p>}
      {stream && <Stream stream={stream} />}
    </Dialog>
  );
}

function Stream({ stream }: { readonly stream: TcpStream }) {
  const form = useSignal<Form>('text');
  const direction = useSignal<Direction>('both');
  const { ends, packets, bytes, isLimited } = stream;
  const pieces = merged(stream.pieces.filter((piece) => direction.value === 'both' || piece.direction === Number(direction.value)));
  const { shown, isCut } = firstOf(pieces);
  const start = stream.pieces[0]?.timeMs ?? 0;
  const save = () => saveFile(new Blob(pieces.map(({ data }) => data as Uint8Array<ArrayBuffer>)), 'stream.bin');
  return (
    <>
      <div class="analysis-tools">
        <ChoiceField
          label={texts.direction}
          value={direction.value}
          options={[
            ['both', texts.both],
            ['0', texts.from(...ends)],
            ['1', texts.from(ends[1], ends[0])],
          ]}
          onChange={(value) => (direction.value = value as Direction)}
        />
        <ChoiceField
          label={texts.form}
          value={form.value}
          options={[
            ['text', texts.forms.text],
            ['hex', texts.forms.hex],
          ]}
          onChange={(value) => (form.value = value as Form)}
        />
        <span class="grow" />
        <Button icon="download" onClick={save}>
          {texts.save}
        </Button>
      </div>
      <p role="status">
        <small>
          {texts.summary(packets, bytes)} {isLimited && texts.limited(mostBytes)} {isCut && texts.cut(mostShown)}
        </small>
      </p>
      {pieces.length === 0 && <p class="empty">{texts.empty}</p>}
      <div class="stream" {...scrollable} hidden={pieces.length === 0}>
        {shown.map((piece, place) => (
          // Pieces have no identity of their own, and do not change.
          <Piece key={`${direction.value} ${place}`} piece={piece} form={form.value} ends={ends} start={start} />
        ))}
      </div>
    </>
  );
}

interface PieceProps {
  readonly piece: StreamPiece;
  readonly form: Form;
  readonly ends: readonly [string, string];
  readonly start: number;
}

function Piece({ piece: { direction, timeMs, data, missing }, form, ends, start }: PieceProps) {
  const from = direction === 0 ? ends : ([ends[1], ends[0]] as const);
  return (
    <article class={`stream-piece${direction === 1 ? ' back' : ''}`}>
      <header>
        <strong>{texts.from(from[0], from[1])}</strong>
        <small>{texts.bytes(data.length)}</small>
        <small>{analysisTexts.frame.later(timeMs - start)}</small>
        {missing > 0 && <small class="stream-missing">{texts.missing(missing)}</small>}
      </header>
      <pre>{form === 'text' ? textOf(data) : hexOf(data)}</pre>
    </article>
  );
}

/** UTF-8, without the characters that would steer a terminal; unreadable bytes are shown as such. */
function textOf(data: Uint8Array): string {
  return new TextDecoder()
    .decode(data)
    .replaceAll(/\r\n/g, '\n')
    .replaceAll(/[^\P{C}\n\t]/gu, '·');
}

function hexOf(data: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += hexPartBytes)
    for (const { at: offset, bytes } of hexLines(data.subarray(at, at + hexPartBytes))) {
      const digits = bytes.map(({ hex }) => hex).join(' ');
      lines.push(`${(at + offset).toString(16).padStart(6, '0')}  ${digits.padEnd(47)}  ${bytes.map(({ text }) => text).join('')}`);
    }
  return lines.join('\n');
}

/** `hexLines` shows no more of a packet. */
const hexPartBytes = 4096;

/** Merges consecutive pieces of one end into a single piece. */
function merged(pieces: readonly StreamPiece[]): StreamPiece[] {
  const groups: StreamPiece[][] = [];
  for (const piece of pieces) {
    const group = groups.at(-1);
    if (group && piece.missing === 0 && group[0]?.direction === piece.direction) group.push(piece);
    else groups.push([piece]);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    return first ? [{ ...first, data: joined(group.map(({ data }) => data)) }] : [];
  });
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function firstOf(pieces: readonly StreamPiece[]): { readonly shown: readonly StreamPiece[]; readonly isCut: boolean } {
  const shown: StreamPiece[] = [];
  let left = mostShown;
  for (const piece of pieces) {
    if (left <= 0 || shown.length >= mostPieces) return { shown, isCut: true };
    shown.push({ ...piece, data: piece.data.subarray(0, left) });
    left -= piece.data.length;
  }
  return { shown, isCut: left < 0 };
}
