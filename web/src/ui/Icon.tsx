// Our own line icons on a grid of 16. They stand beside words; where one stands alone its button is labelled.

const PATHS = {
  account: 'M8 8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 14c.6-2.6 2.8-4 5.5-4s4.9 1.4 5.5 4',
  apps: 'M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5h-4.5zM11.25 9v4.5M9 11.25h4.5',
  arrow: 'M3 8h10M9.5 4.5 13 8l-3.5 3.5',
  bucket:
    'M2.5 4.5c0-1.1 2.5-2 5.5-2s5.5.9 5.5 2-2.5 2-5.5 2-5.5-.9-5.5-2ZM2.5 4.5l1.3 7.5c.2 1 2 1.5 4.2 1.5s4-.5 4.2-1.5l1.3-7.5',
  check: 'm3 8.5 3.2 3L13 4.5',
  chevron: 'm6 4 4 4-4 4',
  clock: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM8 5v3.2l2 1.6',
  close: 'm4 4 8 8M12 4l-8 8',
  code: 'm5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  columns: 'M2.5 2.5h11v11h-11zM6.2 2.5v11M9.8 2.5v11',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  definitions:
    'M3 2.5h8.5a1.5 1.5 0 0 1 1.5 1.5v9.5H4.5A1.5 1.5 0 0 1 3 12zM3 12a1.5 1.5 0 0 1 1.5-1.5H13M5.5 5.5h5',
  down: 'm4 6 4 4 4-4',
  download: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11',
  events: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  exports: 'M2.5 9.5v4h11v-4M8 10.5v-8M4.5 5.5 8 2l3.5 3.5',
  external: 'M9 2.5h4.5V7M13.5 2.5 7.5 8.5M11.5 9.5v4h-9v-9h4',
  filter: 'M2 3h12l-4.5 5.5v4.5l-3-1.5v-3z',
  fold: 'M2.5 2.5h11v11h-11zM6 2.5v11M11 6.5 9.5 8l1.5 1.5',
  folder: 'M2 4h4.5l1.5 1.5h6v7.5h-12z',
  grip: 'M6 3.5v.01M10 3.5v.01M6 8v.01M10 8v.01M6 12.5v.01M10 12.5v.01',
  help: 'M6 6c0-1.2.9-2 2-2s2 .8 2 1.9c0 1.3-2 1.5-2 3M8 11.8v.01',
  key: 'M5.5 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM7.7 7.8 13.5 2M11 4.5l2 2',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  more: 'M3.5 8v.01M8 8v.01M12.5 8v.01',
  organization: 'M2.5 13.5v-11h7v11M9.5 6.5h4v7M1.5 13.5h13M5 5.5h2M5 8h2M5 10.5h2',
  out: 'M6.5 2.5h-4v11h4M6.5 8H14M10.5 4.5 14 8l-3.5 3.5',
  overview: 'M2.5 13.5V8M6.2 13.5V3M9.8 13.5V6M13.5 13.5v-3',
  pause: 'M5.5 3v10M10.5 3v10',
  people:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13c.4-2.2 2.2-3.5 4.5-3.5s4.1 1.3 4.5 3.5M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.9c1.4.5 2.3 1.6 2.5 3.1',
  play: 'M4.5 3v10l8-5z',
  plus: 'M8 3v10M3 8h10',
  refresh: 'M13 5.5A5.5 5.5 0 1 0 13.5 8M13.5 2.5v3.5H10',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3 14 14',
  server: 'M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.75v.01M5 11.25v.01',
  settings: 'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 3v3M6 10v3',
  sort: 'M5 3v10M2.5 10.5 5 13l2.5-2.5M11 13V3M8.5 5.5 11 3l2.5 2.5',
  sql: 'M2.5 4c0-.8 2.5-1.5 5.5-1.5s5.5.7 5.5 1.5-2.5 1.5-5.5 1.5S2.5 4.8 2.5 4ZM2.5 4v8c0 .8 2.5 1.5 5.5 1.5s5.5-.7 5.5-1.5V4M2.5 8c0 .8 2.5 1.5 5.5 1.5s5.5-.7 5.5-1.5',
  start: 'M3 13.5v-11M3 3h9l-2 3 2 3H3',
  table: 'M2.5 2.5h11v11h-11zM2.5 6h11M6.5 6v7.5',
  theme: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM8 2.5v11M10.2 4v8M12.2 5.8v4.4',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9M6.7 7v4M9.3 7v4',
  up: 'm4 10 4-4 4 4',
  warning: 'M8 2 1.5 13.5h13zM8 6.5v3.5M8 11.9v.01',
  web: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM2.5 8h11M8 2.5c1.8 1.6 2.5 3.4 2.5 5.5S9.8 11.9 8 13.5C6.2 11.9 5.5 10.1 5.5 8S6.2 4.1 8 2.5Z',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
