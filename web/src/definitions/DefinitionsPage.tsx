// The catalogue of a project: which events and properties there are, what they mean, and which of them to trust.
import { Button, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { usePages } from '../api/pages'
import { Details } from '../ui/Details'
import { Page, TabLinks } from '../ui/Page'
import { PagedTable } from '../ui/PagedTable'
import { SearchInput } from '../ui/SearchInput'
import { Empty, Failed, Loading } from '../ui/States'
import { Toolbar } from '../ui/Toolbar'
import { columnsOf } from './columns'
import { DefinitionDetails } from './DefinitionDetails'
import { definitionQuery, listDefinitions, listsKey, type Definition } from './queries'
import { SHOWN, TABS, type DefinitionsSearch, type Shown, type Tab } from './search'

const route = getRouteApi('/frame/project/$projectId/definitions/$tab')
const TAB_NAMES: Record<Tab, string> = {
  events: 'Events',
  properties: 'Event properties',
  'person-properties': 'Person properties',
}
const SHOWN_NAMES: Record<Shown, string> = {
  all: 'All',
  verified: 'Verified',
  unverified: 'Not verified',
}

export function DefinitionsPage() {
  const { projectId, tab: asked } = route.useParams()
  const tab = TABS.find((each) => each === asked) ?? 'events'
  const { q = '', show = 'all', open } = route.useSearch()
  const navigate = route.useNavigate()
  const pages = usePages<Definition>([...listsKey(projectId), tab, q, show], (page, signal) =>
    listDefinitions(projectId, tab, { q, show }, page, signal),
  )
  const change = (next: DefinitionsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: !('open' in next) })
  const known = pages.rows?.find(({ id }) => id === open)
  const tabs = TABS.map((value) => ({
    value,
    label: TAB_NAMES[value],
    link: { to: '/project/$projectId/definitions/$tab', params: { projectId, tab: value } } as const,
  }))
  return (
    <Page title="Definitions" tabs={<TabLinks label="Definitions" tabs={tabs} value={tab} />}>
      <Toolbar>
        <SearchInput
          key={tab}
          label="Search by name"
          value={q === '' ? undefined : q}
          onChange={(text) => change({ q: text })}
        />
        <SegmentedControl
          aria-label="Which are listed"
          data={SHOWN.map((value) => ({ value, label: SHOWN_NAMES[value] }))}
          value={show}
          onChange={(value) => change({ show: value === 'all' ? undefined : (value as Shown) })}
        />
      </Toolbar>
      <PagedTable
        label={TAB_NAMES[tab]}
        pages={pages}
        columns={columnsOf(tab)}
        rowKey={({ id }) => id}
        openKey={open}
        openLabel={({ name }) => `Open ${name}`}
        onOpen={({ id }) => change({ open: id })}
        failure="The definitions could not be listed."
        empty={<Nothing projectId={projectId} isNarrowed={q !== '' || show !== 'all'} />}
      />
      <Details
        isOpen={open !== undefined}
        onClose={() => change({ open: undefined })}
        title={known?.name ?? 'Definition'}
      >
        {open !== undefined && (
          <One
            key={open}
            projectId={projectId}
            tab={tab}
            id={open}
            onGone={() => change({ open: undefined })}
          />
        )}
      </Details>
    </Page>
  )
}

type OneProps = { projectId: string; tab: Tab; id: string; onGone: () => void }

function One({ projectId, tab, id, onGone }: OneProps) {
  const query = useQuery(definitionQuery(projectId, tab, id))
  if (query.isPending) return <Loading />
  if (query.data === undefined)
    return (
      <Failed
        error={query.error}
        what="The definition could not be shown."
        onRetry={() => void query.refetch()}
      />
    )
  return <DefinitionDetails projectId={projectId} tab={tab} definition={query.data} onGone={onGone} />
}

function Nothing({ projectId, isNarrowed }: { projectId: string; isNarrowed: boolean }) {
  if (isNarrowed) return <Empty title="No definition matches.">Change the filter to see the others.</Empty>
  return (
    <Empty
      title="Nothing is defined yet"
      action={
        <Button
          renderRoot={(props) => (
            <Link to="/project/$projectId/get-started" params={{ projectId }} {...props} />
          )}
        >
          Send the first event
        </Button>
      }
    >
      Every name that your events and properties use is listed here as it first comes, with how often it came.
      Describe and verify those that others should build on.
    </Empty>
  )
}
