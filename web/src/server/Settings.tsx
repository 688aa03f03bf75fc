import { getRouteApi } from '@tanstack/react-router'
import { DataTable, type Column } from '../ui/DataTable'
import { SearchInput } from '../ui/SearchInput'
import { Empty } from '../ui/States'
import { Toolbar } from '../ui/Toolbar'
import type { Part } from './health'
import type { ServerSearch } from './routes'

type Setting = NonNullable<Part<'settings'>>[number]

const page = getRouteApi('/frame/server')

const COLUMNS: readonly Column<Setting>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(150px, 1fr)',
    cell: ({ name }) => <span className="mono">{name}</span>,
  },
  { key: 'value', title: 'Value', width: 'minmax(120px, 2fr)', cell: valueOf },
]

export function Settings({ settings }: { settings: Part<'settings'> }) {
  const { search }: ServerSearch = page.useSearch()
  const navigate = page.useNavigate()
  if (settings === null) return <Empty title="The settings could not be read." />
  const shown = settings.filter(({ name }) => name.toLowerCase().includes((search ?? '').toLowerCase()))
  return (
    <>
      <Toolbar>
        <SearchInput
          label="Find a setting"
          value={search}
          onChange={(text) => void navigate({ search: { search: text }, replace: true })}
        />
      </Toolbar>
      {shown.length === 0 ? (
        <Empty title="No setting has that name." />
      ) : (
        <DataTable
          label="Settings"
          columns={COLUMNS}
          rows={shown}
          rowKey={({ name }) => name}
          isCompact
          height="min(480px, 60dvh)"
        />
      )}
    </>
  )
}

function valueOf({ value, is_set, is_secret }: Setting) {
  if (is_secret) return <span className="quiet">{is_set ? 'stored' : 'not set'}</span>
  return value === null ? <span className="quiet">not set</span> : <span className="mono">{value}</span>
}
