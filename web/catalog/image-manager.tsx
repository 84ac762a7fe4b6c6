/** The images of a compute: their size, checksum and users; upload and delete them. */
import './catalog.css';
import '../style/tables.css';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ImageUse, ImageUses } from '../../src/schema/image-use.ts';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ask } from '../ui/ask.tsx';
import { Button } from '../ui/button.tsx';
import { ChoiceField } from '../ui/field.tsx';
import { FilePicker } from '../ui/file-picker.tsx';
import { Notice } from '../ui/notice.tsx';
import { sizeText } from '../ui/progress.tsx';
import { useReadings } from '../ui/readings.ts';
import { ArrivalList } from './arrival-list.tsx';
import { findByChecksum, imageKinds, useCatalog } from './catalog.ts';
import { catalogTexts } from './catalog-texts.ts';
import { ComputeField } from './compute-field.tsx';
import { ImageFromUrl } from './image-from-url.tsx';
import { ImageIntake } from './image-intake.ts';
import { kindByContent } from './image-kind.ts';
import { type ImageFile, imagesPath } from './images.ts';

const byContent = '';

export function ImageManager() {
  const app = useApp();
  const computeId = useSignal('local');
  const uploadKind = useSignal(byContent);
  const catalog = useCatalog(app, computeId.value);
  const uses = useSignal<ImageUses>({ images: [], unread: [] });
  const begin = useReadings();
  const readUses = async () => {
    const inOrder = begin();
    const read = await app.api.get<ImageUses>(`/v2/computes/${encodeURIComponent(computeId.value)}/image_uses`);
    inOrder(() => (uses.value = read));
  };
  useEffect(() => void app.toasts.attempt(readUses), [computeId.value]);
  const intake = useMemo(
    () =>
      new ImageIntake({
        api: app.api,
        computeId: () => computeId.peek(),
        decide: async (md5sum, file) => {
          const known = findByChecksum(app, catalog.appliances.peek() ?? [], md5sum);
          if (known) return { nodeType: known.kind, filename: known.image.filename };
          return { nodeType: uploadKind.peek() || (await kindByContent(app, file)), filename: file.name };
        },
        stored: () => catalog.readImages(),
      }),
    [computeId.value],
  );
  useEffect(() => () => intake.close(), [intake]);
  const { manager } = catalogTexts;
  const kinds = imageKinds(app);
  const kindTitles = kinds.map((one) => [one, texts.kind[one as keyof typeof texts.kind]] as const);
  return (
    <section class="images">
      <div class="filters">
        <ComputeField computeId={computeId} />
        <ChoiceField
          label={manager.dropAs}
          value={uploadKind.value}
          options={[[byContent, manager.byContent], ...kindTitles]}
          onChange={(value) => (uploadKind.value = value)}
        />
        <ImageFromUrl
          kinds={kindTitles}
          kind={uploadKind.value || (app.server.mainType ?? '')}
          start={(image) => void intake.download(image)}
        />
      </div>
      <FilePicker label={manager.drop} hint={catalogTexts.dropHint} multiple onPick={(file) => void intake.take(file)} />
      <ArrivalList intake={intake} />
      {uses.value.unread.length > 0 && <Notice level="warning">{manager.unread(uses.value.unread.join(', '))}</Notice>}
      <ImageTable
        computeId={computeId.value}
        rows={kinds.flatMap((kind) => (catalog.images.value.get(kind) ?? []).map((file) => ({ kind, file })))}
        uses={uses.value}
        changed={() => Promise.all([catalog.readImages(), readUses()])}
      />
    </section>
  );
}

interface ImageRow {
  readonly kind: string;
  readonly file: ImageFile;
}

interface ImageTableProps {
  readonly computeId: string;
  readonly rows: readonly ImageRow[];
  readonly uses: ImageUses;
  readonly changed: () => Promise<unknown>;
}

function ImageTable({ computeId, rows, uses, changed }: ImageTableProps) {
  const app = useApp();
  const { manager } = catalogTexts;
  if (rows.length === 0) return <p class="empty">{manager.noImages}</p>;
  const remove = ({ kind, file: { filename, path = filename } }: ImageRow) =>
    app.toasts.attempt(async () => {
      if (!(await ask(app, { ...manager.askDelete(filename), danger: true }))) return;
      const address = path.split('/').map(encodeURIComponent).join('/');
      await app.api.delete(`${imagesPath(computeId, kind)}/${address}`);
      await changed();
    });
  return (
    <div class="table-area">
      <table class="data-table image-table">
        <thead>
          <tr>
            {manager.columns.map((column) => (
              <th key={column} scope="col">
                {column || <span class="unseen">{texts.delete}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const use = uses.images.find((one) => one.image === row.file.filename && one.node_type === row.kind);
            return <Row key={`${row.kind}/${row.file.filename}`} row={row} use={use} remove={() => remove(row)} />;
          })}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, use, remove }: { readonly row: ImageRow; readonly use: ImageUse | undefined; readonly remove: () => unknown }) {
  const { manager } = catalogTexts;
  const { filename, filesize, md5sum, path } = row.file;
  const names = [
    ...(use?.templates ?? []).map(({ name }) => name),
    ...(use?.nodes ?? []).map(({ name, project }) => `${project}: ${name}`),
  ];
  const counts = [
    use?.templates.length && manager.templates(use.templates.length),
    use?.nodes.length && manager.nodes(use.nodes.length),
  ].filter(Boolean);
  const isElsewhere = path?.startsWith('/') ?? false;
  return (
    <tr>
      <th scope="row">{filename}</th>
      <td>{texts.kind[row.kind as keyof typeof texts.kind]}</td>
      <td class="number">{filesize !== undefined && sizeText(filesize)}</td>
      <td class="code">{md5sum ?? <small>{manager.pending}</small>}</td>
      <td title={names.join('\n')}>{counts.length > 0 ? counts.join(', ') : <small>{manager.unused}</small>}</td>
      <td>
        <Button
          icon="trash"
          kind="quiet"
          label={texts.deleteNamed(filename)}
          title={isElsewhere ? manager.elsewhere : names.length > 0 ? names.join(', ') : undefined}
          disabled={isElsewhere || names.length > 0}
          onClick={remove}
        />
      </td>
    </tr>
  );
}
