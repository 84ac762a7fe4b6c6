/** A VNC screen over a console's WebSocket. Loaded with the first one. */
import RFB from '@novnc/novnc';
import type { ConsoleScreen, SurfaceOptions } from './surface.ts';

const retryMs = 1_500;

export function openScreen(element: HTMLElement, { address, state }: SurfaceOptions): ConsoleScreen {
  let closed = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let screen: RFB | undefined;
  const again = () => {
    if (closed) return;
    state('lost');
    retry = setTimeout(attach, retryMs);
  };
  const attach = () => {
    address().then((url) => closed || show(url), again);
  };
  const show = (url: string) => {
    screen = new RFB(element, url, { shared: true });
    screen.scaleViewport = true;
    screen.background = '#0f1419';
    screen.addEventListener('connect', () => {
      state('open');
      if (document.activeElement === element) screen?.focus();
    });
    screen.addEventListener('disconnect', again);
  };
  attach();
  return {
    focus: () => screen?.focus(),
    close: () => {
      closed = true;
      clearTimeout(retry);
      screen?.disconnect();
    },
  };
}
