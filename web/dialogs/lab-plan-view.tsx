/** Preview of a lab file: a picture of the lab, and the list of its steps. */
import type { LabPlanReply } from '../../src/schema/lab.ts';
import { texts } from '../texts.ts';
import { sizeText } from '../ui/progress.tsx';

/** Margin of the picture around its nodes. Pixels of the scene. */
const margin = 80;
const radius = 22;

interface LabPlanProps {
  readonly plan: LabPlanReply;
  /** Where the canvas shows it: no picture. */
  readonly isOnCanvas?: boolean;
}

export function LabPlanView({ plan: { steps, missing, unseen, picture }, isOnCanvas }: LabPlanProps) {
  const lost = steps.filter(({ action, what }) => what === 'node' && (action === 'delete' || action === 'replace'));
  return (
    <div class="lab-plan">
      {!isOnCanvas && <LabPicture picture={picture} />}
      {steps.length === 0 && <p>{texts.lab.nothing}</p>}
      <ul class="lab-steps">
        {steps.map(({ what, action, name, changes, restart, warm }) => (
          <li key={`${what} ${name}`} class={action}>
            <strong>{texts.lab.actions[action]}</strong> {texts.lab.what[what]} {name}
            {action === 'update' && <small> {changes.map(({ field }) => field).join(', ')}</small>}
            {restart && <em> {texts.lab.restarts}</em>}
            {warm && <small> {texts.lab.starts(warm)}</small>}
          </li>
        ))}
      </ul>
      <MissingImages missing={missing} />
      {unseen.length > 0 && (
        <ul class="plain-list lab-missing">
          {unseen.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {lost.length > 0 && <p class="failure">{texts.lab.loses(lost.map(({ name }) => name).join(', '))}</p>}
    </div>
  );
}

/** Most names of nodes in a line. */
const shownNames = 8;

/** Lists the images to bring before the nodes can start, with size, checksum and address where they are known. */
function MissingImages({ missing }: Pick<LabPlanReply, 'missing'>) {
  if (missing.length === 0) return null;
  return (
    <section class="lab-missing">
      <p>{texts.lab.missing(missing.length)}</p>
      <ul class="plain-list">
        {missing.map(({ image, kind, compute, nodes, size, md5, url }) => (
          <li key={`${compute} ${kind} ${image}`}>
            <strong>{image}</strong>{' '}
            <small>
              {[
                texts.lab.neededBy(nodes.slice(0, shownNames).join(', '), Math.max(0, nodes.length - shownNames)),
                compute !== 'local' && compute,
                size !== undefined && sizeText(size),
                md5 && `MD5 ${md5}`,
              ]
                .filter(Boolean)
                .join(' · ')}
            </small>{' '}
            {url !== undefined && /^https?:\/\//i.test(url) && (
              <a href={url} target="_blank" rel="noreferrer noopener">
                {texts.lab.download}
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function LabPicture({ picture: { nodes, links } }: { readonly picture: LabPlanReply['picture'] }) {
  if (nodes.length === 0) return null;
  const places = new Map(nodes.map((node) => [node.name, node]));
  const [xs, ys] = [nodes.map(({ x }) => x), nodes.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  const box = [left, top, Math.max(...xs) + margin - left, Math.max(...ys) + margin - top];
  return (
    <svg class="lab-picture" viewBox={box.join(' ')} role="img" aria-label={texts.lab.picture}>
      {links.map(({ ends: [one = '', other = ''], action }, index) => {
        const [a, b] = [places.get(one), places.get(other)];
        return a && b && <line key={index} class={action ?? 'same'} x1={a.x} y1={a.y} x2={b.x} y2={b.y} />;
      })}
      {nodes.map(({ name, x, y, action }) => (
        <g key={name} class={action ?? 'same'}>
          <circle cx={x} cy={y} r={radius} />
          <text x={x} y={y + radius + 18}>
            {name}
          </text>
        </g>
      ))}
    </svg>
  );
}
