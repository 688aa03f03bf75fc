import type { Column } from '../ui/DataTable'
import { Status } from '../ui/Status'
import { Count, Time } from '../ui/Values'
import { isEvent, type Definition } from './queries'
import type { Tab } from './search'

export function columnsOf(tab: Tab): readonly Column<Definition>[] {
  return [
    {
      key: 'name',
      title: 'Name',
      width: 'minmax(140px, 1.4fr)',
      cell: ({ name }) => <b title={name}>{name}</b>,
    },
    {
      key: 'description',
      title: 'Description',
      width: '2fr',
      isExtra: true,
      cell: ({ description }) =>
        description === '' ? (
          <span className="quiet">–</span>
        ) : (
          <span title={description}>{description}</span>
        ),
    },
    {
      key: 'tags',
      title: 'Tags',
      width: '1fr',
      isExtra: true,
      cell: ({ tags }) => <span title={tags.join(', ')}>{tags.join(', ')}</span>,
    },
    { key: 'state', title: 'State', width: '110px', isExtra: true, cell: stateOf },
    ...(tab === 'events' ? OF_EVENTS : OF_PROPERTIES),
  ]
}

function stateOf({ hidden, verified }: Definition) {
  if (hidden) return <Status kind="skipped">Hidden</Status>
  if (verified) return <Status kind="delivered">Verified</Status>
  return <span className="quiet">–</span>
}

const OF_EVENTS: readonly Column<Definition>[] = [
  {
    key: 'volume',
    title: 'Events',
    width: '110px',
    align: 'end',
    cell: (each) => isEvent(each) && <Count value={each.volume} />,
  },
  {
    key: 'seen',
    title: 'Last seen',
    width: '150px',
    align: 'end',
    isExtra: true,
    cell: (each) => isEvent(each) && <Time value={each.last_seen_at} />,
  },
]

const OF_PROPERTIES: readonly Column<Definition>[] = [
  {
    key: 'type',
    title: 'Type',
    width: '110px',
    cell: (each) => (isEvent(each) ? null : (each.property_type ?? <span className="quiet">unknown</span>)),
  },
]
