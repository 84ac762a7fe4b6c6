/** Details of a packet: its headers with their fields, and its bytes. Selecting a header highlights its bytes. */
import { useComputed, useSignal } from '@preact/signals';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { analysisTexts } from './analysis/analysis-texts.ts';
import { decode, ethernetLink } from './decode/decode.ts';
import { hexLines } from './hex.ts';
import type { Packet } from './pcap.ts';

interface DetailProps {
  readonly packet: Packet;
  readonly linkType: number;
  readonly close: () => void;
  /** Shows the TCP stream of the packet. */
  readonly follow: (packet: Packet) => void;
  /** Shows where else the frame was captured. */
  readonly showPath: (packet: Packet) => void;
}

export function PacketDetail({ packet, linkType, close, follow, showPath }: DetailProps) {
  const { layers, isCut, info } = decode(packet.bytes, linkType);
  const marked = useSignal<number | undefined>(undefined);
  const layer = useComputed(() => (marked.value === undefined ? undefined : layers[marked.value]));
  const isMarked = (at: number) => layer.value !== undefined && at >= layer.value.at && at < layer.value.at + layer.value.length;
  return (
    <section class="packet-detail" aria-label={texts.capture.packet(packet.number)}>
      <header class="packet-title" aria-live="polite">
        <h3 title={info}>{texts.capture.packetTitle(packet.number, info)}</h3>
        <Button icon="close" kind="quiet" label={texts.close} onClick={close} />
      </header>
      <p class="packet-actions">
        {layers.some(({ name }) => name === 'TCP') && <Button onClick={() => follow(packet)}>{analysisTexts.follow}</Button>}
        {linkType === ethernetLink && <Button onClick={() => showPath(packet)}>{analysisTexts.path}</Button>}
      </p>
      {isCut && <p class="bad">{texts.capture.cut}</p>}
      {layers.map(({ name, fields, at }, place) => (
        <details key={`${name}-${at}`} open={place === layers.length - 1} onToggle={() => (marked.value = place)}>
          <summary>{name}</summary>
          <dl class="packet-fields">
            {fields.map(([field, value]) => (
              <div key={`${field} ${value}`}>
                <dt>{field}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      ))}
      <pre class="hex">
        {hexLines(packet.bytes).map(({ at, bytes }) => (
          <div key={at}>
            <span class="offset">{at.toString(16).padStart(4, '0')}</span>{' '}
            {bytes.map(({ hex, at: place }) => (
              <span key={place} class={isMarked(place) ? 'marked' : undefined}>
                {` ${hex}`}
              </span>
            ))}
            {'   '.repeat(16 - bytes.length)}
            {'  '}
            {bytes.map(({ text, at: place }) => (
              <span key={place} class={isMarked(place) ? 'marked' : undefined}>
                {text}
              </span>
            ))}
          </div>
        ))}
      </pre>
    </section>
  );
}
