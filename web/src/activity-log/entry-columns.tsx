import type { Column } from '../ui/DataTable'
import { Time } from '../ui/Values'
import { actorText, entryText, type Entry } from './words'

export const ENTRY_COLUMNS: readonly Column<Entry>[] = [
  { key: 'when', title: 'When', width: '130px', cell: ({ created_at }) => <Time value={created_at} /> },
  { key: 'who', title: 'Who', width: 'minmax(120px, 1fr)', isExtra: true, cell: actorText },
  { key: 'what', title: 'What', width: 'minmax(160px, 2fr)', cell: entryText },
  {
    key: 'fields',
    title: 'Fields',
    width: 'minmax(100px, 1fr)',
    isExtra: true,
    cell: ({ detail }) => <span className="mono">{detail.changes.map(({ field }) => field).join(', ')}</span>,
  },
]
