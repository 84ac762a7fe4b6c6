/** The images of a compute, by kind of node. */
import { useSignal } from '@preact/signals';
import type { NodeType } from '../../src/schema/node.ts';
import { useApp } from '../state/app.ts';
import type { ServerState } from '../state/server.ts';
import { texts } from '../texts.ts';
import { ChoiceField } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { sizeText } from '../ui/progress.tsx';
import { ImageUpload } from './image-upload.tsx';
import { useImages } from './images.ts';

/** Types with a list of images. */
function imageTypes(server: ServerState): NodeType[] {
  return [...server.kinds.value.values()].flatMap((kind) => (kind.images || kind.engine_images ? [kind.node_type] : [])).sort();
}

export function ImagesPanel() {
  const { server } = useApp();
  const computeId = useSignal('local');
  /** Undefined until the user chooses one: the list may load after this page. */
  const chosen = useSignal<NodeType | undefined>(undefined);
  const nodeType = chosen.value ?? server.mainType;
  const computes = server.computes.all.value.map(({ compute_id, name }) => [compute_id, name] as const);
  return (
    <section class="images">
      <h2>{texts.images}</h2>
      <div class="form-grid">
        <ChoiceField
          label={texts.imagesFor}
          value={nodeType ?? ''}
          options={imageTypes(server).map((type) => [type, texts.kind[type]] as const)}
          onChange={(type) => (chosen.value = type as NodeType)}
        />
        {computes.length > 1 && (
          <ChoiceField label={texts.compute} value={computeId.value} options={computes} onChange={(id) => (computeId.value = id)} />
        )}
      </div>
      {nodeType && (
        <ImageList
          key={`${computeId.value}/${nodeType}`}
          computeId={server.computes.find(computeId.value) ? computeId.value : 'local'}
          nodeType={nodeType}
        />
      )}
    </section>
  );
}

function ImageList({ computeId, nodeType }: { readonly computeId: string; readonly nodeType: NodeType }) {
  const app = useApp();
  const { files, failure, read } = useImages(app, nodeType, computeId);
  // A container engine manages its own images and takes no upload.
  const isTaken = app.server.kinds.value.get(nodeType)?.images !== false;
  return (
    <>
      {failure.value && <Notice level="warning">{failure.value}</Notice>}
      <ul class="plain-list">
        {files.value.map(({ filename, filesize, md5sum }) => (
          <li key={filename}>
            <span>
              <strong>{filename}</strong>
              <small>
                {filesize !== undefined && sizeText(filesize)}
                {md5sum && ` · MD5 ${md5sum}`}
              </small>
            </span>
          </li>
        ))}
      </ul>
      {files.value.length === 0 && !failure.value && (
        <p class="empty">{isTaken ? texts.noImages(texts.kind[nodeType]) : texts.noEngineImages}</p>
      )}
      {isTaken && <ImageUpload nodeType={nodeType} computeId={computeId} uploaded={read} />}
    </>
  );
}
