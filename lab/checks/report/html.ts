/** Writes the report as one HTML page without scripts or external resources. Console output is untrusted text. */
import type { Certificate } from '../fidelity/certificate.ts';
import type { StepReport } from '../run/step-report.ts';
import { escapeMarkup } from './plain-text.ts';
import type { TestReport, TopologyPicture } from './test-report.ts';

const style = `
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1100px; padding: 0 1em; color: #222; background: #fff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid #ddd; padding: .3em .6em; text-align: left; vertical-align: top; }
pre { background: #f5f5f5; padding: .6em; overflow: auto; max-height: 30em; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3em 0; }
.passed { color: #14692e; } .failed, .error { color: #a4161a; } .skipped, .void { color: #7a5c00; }
.verdict { font-weight: bold; text-transform: uppercase; } .sent { color: #0b4f9c; font-weight: bold; }
.bar { height: .8em; background: #4a7dbb; min-width: 2px; } .bar.failed, .bar.error { background: #a4161a; } .track { background: #eee; width: 16em; }
svg line { stroke: #888; stroke-width: 1.5; } svg rect { fill: #eef3f9; stroke: #4a7dbb; }
svg text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: #222; } svg .kind { fill: #777; font-size: 10px; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b; } pre { background: #262626; } td, th { border-color: #444; }
  .passed { color: #6fcf8a; } .failed, .error { color: #ff8a8a; } .skipped, .void { color: #e0c060; } .sent { color: #8ab8f0; } .track { background: #333; }
  svg rect { fill: #22303f; } svg text { fill: #ddd; } svg .kind { fill: #aaa; } }
`;

export function htmlReport(report: TestReport): string {
  const { lab, verdict, steps, certificate, failure } = report;
  const title = escapeMarkup(`${lab}: ${verdict}`);
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head><body>
<h1>${escapeMarkup(lab)}: <span class="verdict ${verdict}">${verdict}</span></h1>
<p>${escapeMarkup(report.startedAt)}, ${seconds(report.durationMs)}, seed ${report.seed}</p>
${failure === undefined ? '' : `<p class="error">The test was not completed: ${escapeMarkup(failure)}</p>`}
${topologySvg(report.topology)}
<h2>Checks</h2>
${stepTable(steps, report.durationMs)}
<h2>Nodes</h2>
<table><tr><th>Node</th><th>Ready</th><th>After</th></tr>${report.ready
    .map(
      ({ node, isReady, text, durationMs }) =>
        `<tr><td>${escapeMarkup(node)}</td><td class="${isReady ? 'passed' : 'failed'}">${escapeMarkup(text)}</td><td>${seconds(durationMs)}</td></tr>`,
    )
    .join('')}</table>
<h2>Fidelity certificate</h2>
${certificate ? certificateHtml(certificate) : '<p>The checks did not begin.</p>'}
<h2>Consoles</h2>
${report.consoles.map(consoleHtml).join('\n')}
</body></html>
`;
}

function stepTable(steps: readonly StepReport[], totalMs: number): string {
  if (steps.length === 0) return '<p>None.</p>';
  const rows = steps.map((step) => {
    const left = (100 * step.startMs) / Math.max(1, totalMs);
    const width = (100 * step.durationMs) / Math.max(1, totalMs);
    const bar = `<div class="track"><div class="bar ${step.outcome}" style="margin-left:${left.toFixed(2)}%;width:${width.toFixed(2)}%"></div></div>`;
    const tries = step.tries > 1 ? `, ${step.tries} tries` : '';
    const capture = step.capture ? `<p>${step.capture.packets} packets match.</p>` : '';
    const inner = step.steps.length > 0 ? stepTable(step.steps, totalMs) : '';
    const chance = step.chance ? `<p>${escapeMarkup(step.chance.text)}</p>` : '';
    const problems = step.problems.map((problem) => `<p class="${step.outcome}">${escapeMarkup(problem)}</p>`).join('');
    const open = step.outcome === 'passed' || step.outcome === 'skipped' ? '' : ' open';
    const evidence =
      step.evidence.trim() === ''
        ? ''
        : `<details${open}><summary>Evidence</summary><pre>${escapeMarkup(step.evidence)}</pre></details>`;
    return `<tr><td class="${step.outcome}">${step.outcome}</td><td>${escapeMarkup(step.name)}${problems}${chance}${capture}${evidence}${inner}</td><td>${bar}${seconds(step.startMs)} + ${seconds(step.durationMs)}${tries}</td></tr>`;
  });
  return `<table><tr><th>Outcome</th><th>Check</th><th>Timeline</th></tr>${rows.join('')}</table>`;
}

function certificateHtml({ isFaithful, reasons, advice, links, computes, captures }: Certificate): string {
  const head = isFaithful
    ? '<p class="passed">The emulation was faithful.</p>'
    : `<p class="error">The emulation was not faithful:</p><ul>${reasons.map((reason) => `<li>${escapeMarkup(reason)}</li>`).join('')}</ul>${advice === undefined ? '' : `<p>${escapeMarkup(advice)}</p>`}`;
  const linkRows = links.map(({ name, frames, delays, delayError, losses }) => {
    const errors = delayError.count === 0 ? '–' : `${delayError.p50} / ${delayError.p99} / ${delayError.worst} ms`;
    const lost = losses.map((one) => `${one.lost} of ${one.frames} at ${one.percent} %`).join(', ') || '–';
    return `<tr><td>${escapeMarkup(name)}</td><td>${frames}</td><td>${escapeMarkup(delays.join(', ') || '–')}</td><td>${errors}</td><td>${lost}</td></tr>`;
  });
  const hostRows = computes.map(
    ({ computeId, loopLate, stealPercent, failure }) =>
      `<tr><td>${escapeMarkup(computeId)}</td><td>${failure === undefined ? `${loopLate.p50} / ${loopLate.p99} / ${loopLate.worst} ms` : escapeMarkup(failure)}</td><td>${stealPercent.toFixed(1)} %</td></tr>`,
  );
  const missed = captures.map(({ link, missed: count }) => `<li>${escapeMarkup(link)}: ${count} frames missed</li>`);
  return `${head}
<table><tr><th>Link</th><th>Frames</th><th>Held by</th><th>Late: p50 / p99 / worst</th><th>Lost</th></tr>${linkRows.join('')}</table>
<table><tr><th>Compute</th><th>Fabric late: p50 / p99 / worst</th><th>Withheld</th></tr>${hostRows.join('')}</table>
${missed.length > 0 ? `<p>Captures:</p><ul>${missed.join('')}</ul>` : ''}`;
}

function consoleHtml({ node, entries }: TestReport['consoles'][number]): string {
  const text = entries.map(({ direction, text: own }) =>
    direction === 'sent' ? `<span class="sent">${escapeMarkup(own)}</span>` : escapeMarkup(own),
  );
  return `<details><summary>${escapeMarkup(node)}</summary><pre>${text.join('')}</pre></details>`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Sizes in the picture of the topology, pixels. */
const size = { width: 120, height: 44, margin: 40 } as const;

/** Draws the topology as SVG. */
function topologySvg({ nodes, links }: TopologyPicture): string {
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
