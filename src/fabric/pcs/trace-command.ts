/** `trace`: its options, and the lines that it prints. */
import type { PcCommand } from './commands.ts';
import { describeTarget } from './ping-command.ts';
import { type PcJob, type PcShell, shellTimer } from './shell.ts';
import type { TargetEvent } from './target-task.ts';
import { helpTexts } from './texts.ts';
import { type TraceEvent, type TracePosition, type TraceSpec, TraceTask } from './trace-task.ts';

const defaults = { mode: 'udp', hops: 8, timeoutMs: 1000 } as const;
const mostHops = 64;

export const trace: PcCommand = (shell, words) => {
  const [to, ...rest] = words;
  const spec = to === undefined ? undefined : readOptions(to, rest);
  if (!spec) {
    shell.print(helpTexts.trace ?? '');
    return 'done';
  }
  tracing(shell, spec);
  return 'started';
};

function readOptions(to: string, words: readonly string[]): TraceSpec | undefined {
  const text = words.join(' ');
  const mode = /-P (\d+)/.exec(text)?.[1];
  const hops = /(?:^|-m )(\d+)(?= |$)/.exec(text.replace(/-P \d+ ?/, ''))?.[1];
  if (
    text
      .replace(/-P (1|6|17)\b ?/, '')
      .replace(/(^|-m )\d+ ?/, '')
      .trim() !== ''
  )
    return undefined;
  const modes = { 1: 'icmp', 6: 'tcp', 17: 'udp' } as const;
  return {
    ...{ ...defaults, to, mode: modes[Number(mode ?? 17) as keyof typeof modes] },
    hops: Math.min(Math.max(Number(hops ?? defaults.hops), 1), mostHops),
  };
}

export function tracing(shell: PcShell, spec: TraceSpec, position?: TracePosition): void {
  const report = (event: TraceEvent | TargetEvent) => {
    shell.print(describeTrace(spec, event));
    if (['end', 'arrived', 'unresolved', 'unreachable', 'failed'].includes(event.kind)) shell.finish();
  };
  const task = new TraceTask({ host: shell.host, key: shellTimer, spec }, report);
  const job: PcJob = { interrupt: () => task.close(), state: () => ({ kind: 'trace', spec, position: task.position() }) };
  shell.setJob(job);
  if (position?.to) task.restore(position);
  else task.start(spec.to);
}

function describeTrace(spec: TraceSpec, event: TraceEvent | TargetEvent): string {
  if (event.kind === 'begin') {
    const mode = { icmp: ' (ICMP)', tcp: ' (TCP)', udp: '' }[spec.mode];
    return `trace to ${spec.to}, ${spec.hops} hops max${mode}, press Ctrl+C to stop\n`;
  }
  if (event.kind === 'line') return '\n';
  if (event.kind === 'hop') {
    const start = event.index === 0 ? `${String(event.hop).padStart(2)}   ` : '';
    if (event.ms === undefined) return `${start}  *`;
    return `${start}${event.isNew ? `${start === '' ? '  ' : ''}${event.from} ` : ''}  ${event.ms.toFixed(3)} ms`;
  }
  if (event.kind === 'error') {
    const { from, type, code, text } = event.error;
    const start = event.index === 0 ? `${String(event.hop).padStart(2)}   ` : '  ';
    return `${start}*${from}   ${event.ms.toFixed(3)} ms (ICMP type:${type}, code:${code}, ${text})\n`;
  }
  return describeTarget(spec.to, event);
}
