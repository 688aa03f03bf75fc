import type { Column } from '../ui/DataTable'
import { Time } from '../ui/Values'
import { KeyState, type Key } from './KeyDetails'
import { scopesText } from './scopes'

export const keyColumns = <Row extends Key>(): Column<Row>[] => [
  { key: 'label', title: 'Label', width: 'minmax(110px, 1.5fr)', cell: ({ label }) => label },
  {
    key: 'value',
    title: 'Value',
    width: 'minmax(96px, 130px)',
    cell: ({ mask_value }) => <span className="mono">{mask_value}</span>,
  },
  {
    key: 'scopes',
    title: 'May do',
    width: 'minmax(140px, 1.5fr)',
    isExtra: true,
    cell: ({ scopes }) => scopesText(scopes),
  },
  { key: 'where', title: 'Works', width: '150px', isExtra: true, cell: whereText },
  {
    key: 'used',
    title: 'Last used',
    width: '140px',
    isExtra: true,
    cell: ({ last_used_at }) => <Time value={last_used_at} />,
  },
  { key: 'expires', title: 'Expires', width: '100px', cell: (row) => <KeyState keyRow={row} /> },
]

function whereText({ scoped_organizations = [], scoped_teams }: Key): string {
  if (scoped_teams.length > 0)
    return scoped_teams.length === 1 ? 'in one project' : `in ${scoped_teams.length} projects`
  if (scoped_organizations.length > 0)
    return scoped_organizations.length === 1
      ? 'in one organization'
      : `in ${scoped_organizations.length} organizations`
  return 'everywhere'
}
