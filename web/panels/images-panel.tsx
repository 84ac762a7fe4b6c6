/** The images of virtual machines on the local compute. */
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { sizeText } from '../ui/progress.tsx';
import { ImageUpload } from './image-upload.tsx';
import { useImages } from './images.ts';

const nodeType = 'qemu';

export function ImagesPanel() {
  const app = useApp();
  const { files, read } = useImages(app, nodeType);
  return (
    <section class="images">
      <h2>{texts.images}</h2>
      <ul class="plain-list">
        {files.value.map(({ filename, filesize, md5sum }) => (
          <li key={filename}>
            <span>
              <strong>{filename}</strong>
              <small>
                {sizeText(filesize)}
                {md5sum && ` · MD5 ${md5sum}`}
              </small>
            </span>
          </li>
        ))}
      </ul>
      {files.value.length === 0 && <p class="empty">{texts.noImages}</p>}
      <ImageUpload nodeType={nodeType} uploaded={read} />
    </section>
  );
}
