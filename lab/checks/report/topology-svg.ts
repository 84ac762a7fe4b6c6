/** Draws the topology as SVG. */
import { escapeMarkup } from './plain-text.ts';
import type { TopologyPicture } from './test-report.ts';

/** Pixels. */
const size = { width: 120, height: 44, margin: 40 } as const;

export function topologySvg({ nodes, links }: TopologyPicture): string {
  if (nodes.length === 0) return '';
  const xs = nodes.map(({ x }) => x);
  const ys = nodes.map(({ y }) => y);
  const [left, top] = [Math.min(...xs) - size.margin, Math.min(...ys) - size.margin];
  const width = Math.max(...xs) + size.width + size.margin - left;
  const height = Math.max(...ys) + size.height + size.margin - top;
  const centre = (index: number) => {
    const { x = 0, y = 0 } = nodes[index] ?? {};
    return { x: x - left + size.width / 2, y: y - top + size.height / 2 };
  };
  const lines = links.map(({ ends: [one, other], text }) => {
    const [from, to] = [centre(one), centre(other)];
    const line = `<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>`;
    const label = `<text x="${(from.x + to.x) / 2}" y="${(from.y + to.y) / 2 - 5}">${escapeMarkup(text)}</text>`;
    return text === '' ? line : line + label;
  });
  const boxes = nodes.map(({ name, kind }, index) => {
    const { x, y } = centre(index);
    const box = `<rect x="${x - size.width / 2}" y="${y - size.height / 2}" width="${size.width}" height="${size.height}" rx="6"/>`;
    return `${box}<text x="${x}" y="${y - 2}">${escapeMarkup(name)}</text><text x="${x}" y="${y + 14}" class="kind">${escapeMarkup(kind)}</text>`;
  });
  const scale = `viewBox="0 0 ${width} ${height}" width="${Math.min(width, 1000)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Topology" ${scale}>${lines.join('')}${boxes.join('')}</svg>`;
}
