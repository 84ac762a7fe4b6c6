/** The page's own icons: strokes in a square of 24. */
const paths = {
  play: 'M7 5l12 7-12 7z',
  stop: 'M6 6h12v12H6z',
  pause: 'M8 5v14M16 5v14',
  reload: 'M20 12a8 8 0 1 1-2.6-5.9M20 3v5h-5',
  terminal: 'M3 5h18v14H3zM7 9l3 3-3 3M12.5 15H17',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  undo: 'M8 5L3.5 9.5 8 14M4 9.5h10a5.5 5.5 0 0 1 0 11h-3',
  redo: 'M16 5l4.5 4.5L16 14M20 9.5H10a5.5 5.5 0 0 0 0 11h3',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  wire: 'M5 19a2.5 2.5 0 1 0 0-.1zM14 5a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M7.5 16.5L14.5 7',
  text: 'M5 6V4h14v2M12 4v16M9 20h6',
  rectangle: 'M4 6h16v12H4z',
  ellipse: 'M3 12a9 6.5 0 1 0 18 0a9 6.5 0 1 0-18 0',
  line: 'M5 19L19 5',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  add: 'M4 4h7v7H4zM4 14h7v6H4zM17.5 4v7M14 7.5h7M14 14h6v6h-6z',
  panel: 'M3 5h18v14H3zM15 5v14',
  clock: 'M12 3a9 9 0 1 0 .1 0M12 7v5l3.5 2',
  settings: 'M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5v5M8 14.5v5',
  download: 'M12 4v11M7 10.5l5 5 5-5M4 20h16',
  upload: 'M12 16V5M7 9.5l5-5 5 5M4 20h16',
  power: 'M12 3v9M7 6.5a8 8 0 1 0 10 0',
  help: 'M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 2.2M12 17.5v.5M12 3a9 9 0 1 0 .1 0',
  theme: 'M12 3a9 9 0 1 0 .1 0M12 3v18M12 7h4.5M12 11h6M12 15h5',
  search: 'M10.5 4a6.5 6.5 0 1 0 .1 0M15.5 15.5L20 20',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  down: 'M6 9l6 6 6-6',
  more: 'M5 12h.1M12 12h.1M19 12h.1',
  back: 'M14 6l-6 6 6 6',
  folder: 'M3 6h7l2 2.5h9V19H3z',
  split: 'M3 5h18v14H3zM12 5v14',
  warning: 'M12 4L2.5 20h19zM12 10v4.5M12 17.2v.3',
  edit: 'M4 20l1-4L16 5l3 3L8 19z',
  server: 'M4 4h16v6H4zM4 14h16v6H4zM7.5 7h.1M7.5 17h.1',
  record: 'M12 5a7 7 0 1 0 .1 0',
  swap: 'M4 8h15M15 4l4 4-4 4M20 16H5M9 12l-4 4 4 4',
  map: 'M3 5h18v14H3zM12 11h9M12 11v8',
  packets: 'M4 6h4M11 6h9M4 12h4M11 12h9M4 18h4M11 18h9',
  chart: 'M4 20V4M4 20h16M9 16v-5M13.5 16V7M18 16v-3',
  notes: 'M5 3h9l5 5v13H5zM9 12h6M9 16h6',
  activity: 'M3 12h4l3-7 4 14 3-7h4',
  person: 'M12 4a4 4 0 1 0 .1 0M4.5 20.5a7.5 7.5 0 0 1 15 0',
  people: 'M9 4.5a3.5 3.5 0 1 0 .1 0M2.5 20a6.5 6.5 0 0 1 13 0M16 5a3.2 3.2 0 0 1 0 6.3M18 14.3a6.3 6.3 0 0 1 3.5 5.7',
  exit: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class={`icon icon-${name}`} width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
