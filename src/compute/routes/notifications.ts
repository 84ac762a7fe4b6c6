/**
 * The compute's events: a ping at once and after every second of silence, and each event; over a WebSocket those of all projects, as
 * text frames, over HTTP those of one, a line each. A listener that does not read is cut off: it connects again and asks for the state.
 */
import { Readable } from 'node:stream';
import { type Route, route, type Socket, Stream, socketRoute } from '../../api/route.ts';
import { Notification } from '../../schema/notification.ts';
import type { ComputeNotice } from '../context.ts';
import type { ComputeRouteContext } from './route-context.ts';

const silenceMs = 1000;
const bufferLimitBytes = 16 * 1024 * 1024;
/** RFC 6455 §7.4.1: the endpoint cannot continue. */
const overloadCode = 1013;

export function notificationRoutes({ events, figures, projects }: ComputeRouteContext): Route[] {
  const texts = new WeakMap<ComputeNotice, string>();
  /** An event is written once, however many listen. */
  const textOf = (event: ComputeNotice): string => {
    const text = texts.get(event) ?? JSON.stringify(event);
    texts.set(event, text);
    return text;
  };
  const ping = async () => {
    const [cpu_usage_percent, memory_usage_percent] = await Promise.all([figures.cpuPercent(), figures.memoryPercent()]);
    return JSON.stringify({ action: 'ping', event: { cpu_usage_percent, memory_usage_percent } });
  };
  /** Begins to send, what is `wanted` and pings; returns what ends it. */
  const enter = (send: (text: string) => void, wanted: (event: ComputeNotice) => boolean = () => true): (() => void) => {
    let closed = false;
    const sendPing = () => void ping().then((text) => closed || send(text));
    const timer = setInterval(sendPing, silenceMs);
    const unsubscribe = events.subscribe((event) => {
      if (!wanted(event)) return;
      timer.refresh();
      send(textOf(event));
    });
    sendPing();
    return () => {
      closed = true;
      clearInterval(timer);
      unsubscribe();
    };
  };
  const serve = (socket: Socket) => {
    const send = (text: string) => {
      if (socket.bufferedAmount > bufferLimitBytes) socket.close(overloadCode, 'too slow');
      else socket.send(text);
    };
    socket.onClose(enter(send));
  };
  return [
    socketRoute('GET /v2/compute/notifications/ws', { summary: 'Events of this compute' }, () => undefined, serve),
    route(
      'GET /v2/compute/projects/{project_id}/notifications',
      { summary: 'Events of a project on this compute, one JSON document a line', reply: Notification },
      ({ path, signal }) => {
        const { id } = projects.get(path.project_id);
        const source = new Readable({ read: () => undefined });
        const send = (text: string) => {
          source.push(`${text}\n`);
          if (source.readableLength > bufferLimitBytes) source.destroy();
        };
        source.once(
          'close',
          enter(send, (event) => event.project_id === id),
        );
        signal.addEventListener('abort', () => source.destroy(), { once: true });
        return new Stream('application/json', source);
      },
    ),
  ];
}
