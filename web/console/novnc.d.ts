/** Types of the part of noVNC that the page uses; the library has none. */
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, url: string, options?: { shared?: boolean });
    scaleViewport: boolean;
    background: string;
    focus(): void;
    disconnect(): void;
  }
}
