/** The trace of a packet on the canvas: links are lit in the order in which it passed them, beside a list of its hops. */
import '../overlays/overlays.css';
import './trace.css';
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { PacketTrace, PacketTraceStart } from '../../../src/schema/frame-trace.ts';
import type { Node } from '../../../src/schema/node.ts';
import { ApiError } from '../../api.ts';
import type { App } from '../../state/app.ts';
import { isPc } from '../../state/pcs.ts';
import type { ProjectState } from '../../state/project.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { showBeside } from './show-beside.ts';
import { traceTexts as texts } from './trace-texts.ts';
import { delayText, hopsOf, linkMarks, nodeMarks, nodeName, outcomeOf, type ShownHop, startMs } from './trace-view.ts';

interface TracedNodes {
  readonly from: Node;
  readonly to: Node;
  /** Address of the second node, where the server does not know it. */
  readonly address?: string;
}

/** Times between the lighting of two links. Milliseconds. */
const times = { shortest: 250, longest: 900 };
const waitSeconds = 60;

/** State of a trace that is shown. */
interface TraceState {
  readonly trace: ReadonlySignal<PacketTrace | undefined>;
  readonly failure: ReadonlySignal<string | undefined>;
  /** Whether the address of the second node is asked for. */
  readonly needsAddress: ReadonlySignal<boolean>;
  /** Hops that are lit. */
  readonly lit: ReadonlySignal<readonly ShownHop[]>;
}

/** Sends or awaits a packet, and shows its way in place of the overlay that is shown. */
export function showTrace(app: App, project: ProjectState, nodes: TracedNodes): void {
  if (matchMedia('(max-width: 620px)').matches) {
    // Panels lie over the canvas there.
    app.tools.paletteOpen.value = false;
    app.tools.inspectorOpen.value = false;
  }
  const [trace, failure, needsAddress] = [
    signal<PacketTrace | undefined>(undefined),
    signal<string | undefined>(undefined),
    signal(false),
  ];
  const count = signal(0);
  const lit = computed(() => (trace.value ? hopsOf(trace.value).slice(0, count.value) : []));
  const ended = new AbortController();
  let timer: number | undefined;
  const light = (hops: readonly ShownHop[]) => {
    count.value += 1;
    const { delay_ms } = hops[count.value - 1] ?? {};
    if (count.value < hops.length) timer = setTimeout(light, Math.min(times.longest, times.shortest + (delay_ms ?? 0)), hops);
  };
  const run = async () => {
    const { from, to, address } = nodes;
    const body: PacketTraceStart = { from_node_id: from.node_id, to_node_id: to.node_id, wait_seconds: waitSeconds };
    try {
      trace.value = await app.api.post<PacketTrace>(`${project.path}/trace`, address ? { ...body, address } : body, ended.signal);
      const hops = hopsOf(trace.value);
      if (matchMedia('(prefers-reduced-motion: reduce)').matches) count.value = hops.length;
      else light(hops);
    } catch (error) {
      if (ended.signal.aborted) return;
      failure.value = error instanceof Error ? error.message : String(error);
      needsAddress.value = error instanceof ApiError && error.code === 'trace_no_address';
    }
  };
  const state: TraceState = { trace, failure, needsAddress, lit };
  project.drawn.show({
    name: 'trace',
    links: computed(() => linkMarks(project, lit.value)),
    nodes: computed(() => (trace.value && lit.value.length === hopsOf(trace.value).length ? nodeMarks(trace.value) : new Map())),
    Legend: () => <TracePanel app={app} project={project} nodes={nodes} state={state} />,
    stop: () => {
      ended.abort();
      clearTimeout(timer);
    },
  });
  void run();
}

interface PanelProps {
  readonly app: App;
  readonly project: ProjectState;
  readonly nodes: TracedNodes;
  readonly state: TraceState;
}

function TracePanel({ app, project, nodes, state }: PanelProps) {
  const { from, to, address } = nodes;
  const trace = state.trace.value;
  const failure = state.failure.value;
  const shown = trace?.address ?? address;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (trace && panel.current) showBeside(app, project, trace, panel.current);
  }, [app, project, trace]);
  return (
    <section
      ref={panel}
      class="overlay-legend trace-panel"
      aria-label={texts.region}
      style={{ '--covered': `${app.viewport.covered.value.left}px` }}
    >
      <header>
        <h2>{texts.title(from.name, to.name)}</h2>
        <Button kind="quiet" icon="reload" label={texts.again} onClick={() => showTrace(app, project, nodes)} />
        <Button kind="quiet" icon="swap" label={texts.swap} onClick={() => showTrace(app, project, { from: to, to: from })} />
        <Button kind="quiet" icon="close" label={texts.close} onClick={() => project.drawn.show(undefined)} />
      </header>
      {shown && <small>{texts.to(shown)}</small>}
      {!state.needsAddress.value && <Failure text={failure} />}
      {state.needsAddress.value && <AddressForm app={app} project={project} nodes={nodes} state={state} />}
      {!trace && !failure && <p role="status">{isPc(from) ? texts.sends(from.name) : texts.waits(from.name)}</p>}
      {trace && <TraceResult project={project} trace={trace} lit={state.lit.value.length} />}
    </section>
  );
}

function AddressForm({ app, project, nodes, state }: PanelProps) {
  const trace = (event: SubmitEvent) => {
    event.preventDefault();
    const address = String(new FormData(event.currentTarget as HTMLFormElement).get('address')).trim();
    showTrace(app, project, { ...nodes, address });
  };
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <form onSubmit={trace}>
      <p role="status">{state.failure.value}</p>
      <label>
        {texts.address(nodes.to.name)}
        <input ref={input} name="address" required placeholder="10.0.0.1" autocomplete="off" />
      </label>
      <Button kind="primary" submit>
        {texts.trace}
      </Button>
    </form>
  );
}

interface ResultProps {
  readonly project: ProjectState;
  readonly trace: PacketTrace;
  /** Number of hops that are lit. */
  readonly lit: number;
}

function TraceResult({ project, trace, lit }: ResultProps) {
  const begin = startMs(trace);
  const untraced = trace.untraced_links.flatMap((id) => {
    const [one, other] = project.links.find(id)?.nodes ?? [];
    return one && other ? [texts.between(nodeName(project, one.node_id), nodeName(project, other.node_id))] : [];
  });
  let before = 0;
  return (
    <>
      <p role="status" class={trace.answered ? 'outcome' : 'outcome lost'}>
        {outcomeOf(project, trace)}
      </p>
      {trace.ways.map(({ packet, is_answer, hops }) => {
        const first = before;
        before += hops.length;
        return (
          <table key={`${packet} ${is_answer}`}>
            <caption>{texts.way(packet, is_answer)}</caption>
            <thead>
              <tr>
                <th scope="col">{texts.columns.link}</th>
                <th scope="col">{texts.columns.at}</th>
                <th scope="col">{texts.columns.delay}</th>
              </tr>
            </thead>
            <tbody>
              {hops.map((hop, place) => (
                <tr key={hop.at_ms} class={`${first + place < lit ? 'lit' : ''}${hop.lost === null ? '' : ' lost'}`}>
                  <td>
                    <button type="button" class="hop" onClick={() => project.selection.set([hop.link_id])}>
                      {texts.hop(nodeName(project, hop.from_node_id), nodeName(project, hop.to_node_id))}
                    </button>
                  </td>
                  <td>{texts.at(hop.at_ms - begin)}</td>
                  <td>{delayText(hop)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        );
      })}
      {untraced.length > 0 && <p>{texts.untraced(untraced)}</p>}
      {trace.clocks_differ && <p>{texts.clocks}</p>}
    </>
  );
}
