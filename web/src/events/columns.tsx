// The columns of the explorer: time, event, person, and the properties that somebody chose.
import type { Column } from '../ui/DataTable'
import { cellText } from '../ui/property-text'
import { Time } from '../ui/Values'
import type { StoredEvent } from './queries'

export const DEFAULT_COLUMNS = ['$pathname', '$browser', '$lib']
const PERSON = 'person:'
/** Names that HogQL takes without quotes. */
const PLAIN = /^[a-z_$][\w$]*$/i

/** `person:` before the name says whose property it is. */
export function columnParts(column: string): { owner: 'event' | 'person'; name: string } {
  return column.startsWith(PERSON)
    ? { owner: 'person', name: column.slice(PERSON.length) }
    : { owner: 'event', name: column }
}

export const personColumn = (name: string): string => `${PERSON}${name}`

export const columnTitle = (column: string): string => {
  const { owner, name } = columnParts(column)
  return owner === 'person' ? `person’s ${name}` : name
}

/** The same column in HogQL. */
export function columnExpression(column: string): string {
  const { owner, name } = columnParts(column)
  const quoted = PLAIN.test(name) ? name : `"${name.replaceAll('\\', '\\\\').replaceAll('"', '""')}"`
  return owner === 'person' ? `person.properties.${quoted}` : `properties.${quoted}`
}

export function personName({ person, distinct_id }: Pick<StoredEvent, 'person' | 'distinct_id'>): string {
  const { email, name } = person?.properties ?? {}
  const known = [email, name].find((value) => typeof value === 'string' && value !== '')
  return typeof known === 'string' ? known : distinct_id
}

export function eventColumns(chosen: readonly string[], hasPerson = true): readonly Column<StoredEvent>[] {
  return [
    {
      key: 'time',
      title: 'Time',
      width: '164px',
      cell: ({ timestamp }) => <Time value={timestamp} style="second" />,
    },
    {
      key: 'event',
      title: 'Event',
      width: 'minmax(120px, 1.2fr)',
      cell: ({ event }) => <span title={event}>{event}</span>,
    },
    ...(hasPerson
      ? [
          {
            key: 'person',
            title: 'Person',
            width: '1.2fr',
            isExtra: true,
            cell: (event: StoredEvent) => personName(event),
          },
        ]
      : []),
    ...chosen.map((column) => ({
      key: `property ${column}`,
      title: <span className="mono">{columnTitle(column)}</span>,
      width: '1.2fr',
      isExtra: true,
      cell: (event: StoredEvent) => <Cell event={event} column={column} />,
    })),
  ]
}

function Cell({ event, column }: { event: StoredEvent; column: string }) {
  const { owner, name } = columnParts(column)
  const properties = owner === 'person' ? (event.person?.properties ?? {}) : event.properties
  const text = cellText(properties[name])
  return text === '' ? <span className="quiet">–</span> : <span title={text}>{text}</span>
}
