/**
 * The compute's events over a WebSocket: a ping at once and after every second of silence, and each event as one text frame.
 * A listener that does not read is cut off: a controller connects again and asks for the state.
 */
import { type Route, type Socket, socketRoute } from '../../api/route.ts';
import type { ComputeEvent } from '../context.ts';
import type { RouteParts } from './routes.ts';

const silenceMs = 1000;
const bufferLimitBytes = 16 * 1024 * 1024;
/** RFC 6455 §7.4.1: the endpoint cannot go on. */
const overloadCode = 1013;

export function notificationRoutes({ events, figures }: RouteParts): Route[] {
  const texts = new WeakMap<ComputeEvent, string>();
  /** An event is written once, however many listen. */
  const textOf = (event: ComputeEvent): string => {
    const text = texts.get(event) ?? JSON.stringify(event);
    texts.set(event, text);
    return text;
  };
  const ping = async () => {
    const [cpu_usage_percent, memory_usage_percent] = await Promise.all([figures.cpuPercent(), figures.memoryPercent()]);
    return JSON.stringify({ action: 'ping', event: { cpu_usage_percent, memory_usage_percent } });
  };
  const serve = (socket: Socket) => {
    const send = (text: string) => {
      timer.refresh();
      if (socket.bufferedAmount > bufferLimitBytes) socket.close(overloadCode, 'too slow');
      else socket.send(text);
    };
    const sendPing = () => void ping().then((text) => closed || send(text));
    let closed = false;
    const timer = setInterval(sendPing, silenceMs);
    const unsubscribe = events.subscribe((event) => send(textOf(event)));
    socket.onClose(() => {
      closed = true;
      clearInterval(timer);
      unsubscribe();
    });
    sendPing();
  };
  return [socketRoute('GET /v2/compute/notifications/ws', { summary: 'Events of this compute' }, () => undefined, serve)];
}
