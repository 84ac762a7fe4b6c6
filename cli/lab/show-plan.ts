/** Prints plans and drift for users. */
import type { DriftLine, LabPlan, PlanLine, WarmStart } from '../../lab/plan/lab-plan.ts';
import type { MissingImage } from '../../lab/plan/missing-images.ts';
import type { CliOutput } from '../command.ts';

const signs = { create: '+', update: '~', replace: '±', delete: '-' } as const;
const styles = { create: 'green', update: 'yellow', replace: 'red', delete: 'red' } as const;
/** Longest value in a line, characters. */
const longest = 60;

export function showPlan(lines: readonly PlanLine[], out: CliOutput): void {
  for (const { what, action, name, changes, restart, warm } of lines) {
    const fields = changes.map(({ field, from, to }) =>
      action === 'create' ? `${field} ${short(to)}` : `${field} ${short(from)} → ${short(to)}`,
    );
    const remark = action === 'replace' ? ' (made anew: its files and disks are lost)' : restart ? ' (restarts)' : '';
    const head = `  ${signs[action]} ${what} ${name}${remark}${warm ? ` (${startOf(warm)})` : ''}`;
    out.print(out.style(styles[action], head));
    for (const field of fields) out.print(out.style('dim', `      ${field}`));
  }
  out.print(summaryOf(lines));
}

/** Prints what to bring before the nodes can start, and which files containers may never see. */
export function showLacks({ missing = [], unseen = [] }: Pick<LabPlan, 'missing' | 'unseen'>, out: CliOutput): void {
  for (const sentence of unseen) out.print(out.style('yellow', `  ! ${sentence}`));
  showMissing(missing, out);
}

function showMissing(missing: readonly MissingImage[], out: CliOutput): void {
  for (const { image, kind, compute, nodes, size, md5, url } of missing) {
    const facts = [size && `${size} bytes`, md5 && `MD5 ${md5}`, url].filter(Boolean);
    const names =
      nodes.length > shownNames
        ? `${nodes.slice(0, shownNames).join(', ')} and ${nodes.length - shownNames} more`
        : nodes.join(', ');
    out.print(out.style('yellow', `  ! ${kind} image ${image} is missing on ${compute} (${names})`));
    if (facts.length > 0) out.print(out.style('dim', `      ${facts.join(', ')}`));
  }
  if (missing.length > 0) out.print('Nodes without their image are made all the same, and start once it is there.');
}

/** Most names of nodes in a line. */
const shownNames = 8;

function summaryOf(lines: readonly PlanLine[]): string {
  if (lines.length === 0) return 'Nothing to do: the project is as the file says.';
  const count = (wanted: string) => lines.filter(({ action }) => action === wanted).length;
  const restarts = lines.filter(({ restart }) => restart).map(({ name }) => name);
  const counts = `${count('create')} to create, ${count('update')} to change, ${count('replace')} to make anew, ${count('delete')} to delete`;
  return `${counts}.${restarts.length > 0 ? ` Restarts: ${restarts.join(', ')}.` : ' No running node restarts.'}`;
}

export function showDrift(lines: readonly DriftLine[], out: CliOutput): void {
  for (const { what, drift, name, changes } of lines) {
    const words = { missing: 'is not in the project', extra: 'is not in the file', changed: 'differs' }[drift];
    out.print(out.style('yellow', `  ${what} ${name} ${words}`));
    if (drift !== 'changed') continue;
    for (const { field, project, file } of changes)
      out.print(`      ${field}: ${short(project)} in the project, ${short(file)} in the file`);
  }
  out.print(
    lines.length === 0
      ? 'No drift: the project is as the file says.'
      : `${lines.length} difference${lines.length === 1 ? '' : 's'}.`,
  );
}

function startOf({ template, differs }: WarmStart): string {
  if (differs.length === 0) return `continues from the memory of ${template}`;
  return `boots, as it differs from the machine of ${template}: ${differs.join(', ')}`;
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '-');
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
