/** The image files that a version of an appliance needs, each with its state and its sources. */

import type { ApplianceImage } from '../../src/schema/appliance.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { sizeText } from '../ui/progress.tsx';
import { OutLink } from './appliance-facts.tsx';
import { ArrivalState, CancelArrival } from './arrival-list.tsx';
import { type ImageState, isPresent } from './catalog.ts';
import { catalogTexts } from './catalog-texts.ts';
import type { ImageIntake } from './image-intake.ts';

export interface NeededFile {
  readonly image: ApplianceImage;
  readonly state: ImageState;
}

/** Download that the server does itself. */
export interface OfferedDownload {
  readonly isRunning: boolean;
  readonly start: () => unknown;
}

interface NeededFilesProps {
  /** Undefined: a link has to do. */
  readonly offer: (image: ApplianceImage) => OfferedDownload | undefined;
  /** Properties of the template. */
  readonly section: Readonly<Record<string, unknown>>;
  readonly needed: readonly NeededFile[];
  /** Images on their way: those of a file are shown in its row. */
  readonly intake: ImageIntake;
}

export function NeededFiles({ section: { image }, needed, offer, intake }: NeededFilesProps) {
  const { wizard } = catalogTexts;
  if (needed.length === 0) {
    return <p class="empty">{typeof image === 'string' ? wizard.pulled(image) : wizard.noFiles}</p>;
  }
  return (
    <section>
      <h3>{wizard.files}</h3>
      <ul class="plain-list needed-files">
        {needed.map((one) => (
          <NeededRow
            key={one.image.filename}
            {...one}
            intake={intake}
            download={isPresent(one.state) ? undefined : offer(one.image)}
          />
        ))}
      </ul>
    </section>
  );
}

interface NeededRowProps extends NeededFile {
  readonly intake: ImageIntake;
  readonly download: OfferedDownload | undefined;
}

function NeededRow({ image, state, intake, download }: NeededRowProps) {
  const { wizard } = catalogTexts;
  const { filename, filesize, md5sum, download_url, direct_download_url, compression } = image;
  const isHere = isPresent(state);
  const arrival = intake.arrivals.value.findLast(({ target }) => target === filename);
  return (
    <li class={isHere ? 'here' : 'missing'}>
      <Icon name={isHere ? 'check' : 'upload'} />
      <span>
        <strong>{filename}</strong>
        <small>{[filesize !== undefined && sizeText(filesize), md5sum && `MD5 ${md5sum}`].filter(Boolean).join(' · ')}</small>
        {!isHere && (
          <small class="row">
            <OutLink href={direct_download_url} label={wizard.direct} />
            {compression && direct_download_url && `(${wizard.unpack(compression)})`}
            <OutLink href={download_url} label={wizard.get} />
          </small>
        )}
        {arrival && <ArrivalState arrival={arrival} />}
      </span>
      {arrival && arrival.phase !== 'done' && <CancelArrival arrival={arrival} intake={intake} />}
      {download && (
        <Button title={wizard.downloadNamed(filename)} disabled={download.isRunning} onClick={download.start}>
          {wizard.download}
        </Button>
      )}
      <span class={`chip ${isHere ? 'opened' : ''}`}>{wizard.state[state]}</span>
    </li>
  );
}
