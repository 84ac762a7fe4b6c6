/** Packets and bytes of a capture by protocol. */
import './analysis.css';
import { Dialog } from '../../ui/dialog.tsx';
import { sizeText } from '../../ui/progress.tsx';
import type { PacketStore } from '../packet-store.ts';
import { analysisTexts } from './analysis-texts.ts';
import { countProtocols, type ProtocolCount } from './protocol-statistics.ts';
import { useWork } from './use-work.ts';

const texts = analysisTexts.table;

export function StatisticsDialog({ store, close }: { readonly store: PacketStore; readonly close: () => void }) {
  const { result, done, failure } = useWork(async (signal, onProgress) => {
    const packets = store.shown.slice();
    const note = texts.note(packets.length, packets.length < store.kept, store.forgotten);
    return { note, rows: await countProtocols(packets, store.linkType, { signal, onProgress }) };
  });
  const rows = result.value?.value.rows ?? [];
  return (
    <Dialog title={analysisTexts.statistics} close={close} wide scrolls>
      {failure.value && <p role="alert">{failure.value}</p>}
      <p role="status">
        <small>{result.value ? result.value.value.note : analysisTexts.working(done.value)}</small>
      </p>
      {result.value && rows.length === 0 && <p class="empty">{texts.empty}</p>}
      {rows.length > 0 && (
        <table class="protocol-table">
          <thead>
            <tr>
              {texts.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, place) => (
              // The key has the row's place because a protocol can be inside several others.
              <Row key={`${row.name} ${place}`} row={row} />
            ))}
          </tbody>
        </table>
      )}
    </Dialog>
  );
}

const indentPx = 18;

function Row({ row: { name, depth, packets, bytes, packetShare, byteShare } }: { readonly row: ProtocolCount }) {
  return (
    <tr>
      <td style={{ paddingLeft: `${10 + depth * indentPx}px` }}>{name}</td>
      <td>{packets.toLocaleString('en')}</td>
      <td>
        <Share part={packetShare} />
      </td>
      <td>{sizeText(bytes)}</td>
      <td>
        <Share part={byteShare} />
      </td>
    </tr>
  );
}

const Share = ({ part }: { readonly part: number }) => (
  <span class="share">
    <span class="share-bar" aria-hidden="true">
      <span style={{ width: `${part * 100}%` }} />
    </span>
    {texts.percent(part)}
  </span>
);
