// The people that events belong to, the newest first.
import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { distinctRows } from '../api/rows'
import { DataTable, type Column } from '../ui/DataTable'
import { countText } from '../ui/format'
import { Page } from '../ui/Page'
import { cellText } from '../ui/property-text'
import { SearchInput } from '../ui/SearchInput'
import { Empty, Failed, Loading } from '../ui/States'
import { Count, Time } from '../ui/Values'
import classes from './Persons.module.css'
import { givenName, personsQuery, type Person } from './queries'

const route = getRouteApi('/frame/project/$projectId/persons')
/** Lists hold no more ids of a person than these. */
const LISTED_IDS = 100

export function PersonsPage() {
  const { projectId } = route.useParams()
  const { q = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery(personsQuery(projectId, q))
  const rows = distinctRows(list.data?.pages ?? [], ({ uuid }) => uuid)
  const count = list.data?.pages.at(-1)?.count
  return (
    <Page title="People" state={count !== undefined && <span className="quiet">{countText(count)}</span>}>
      <SearchInput
        className={classes.search}
        label="Search people"
        placeholder="Search by name, e-mail or distinct id"
        value={q}
        onChange={(text) => void navigate({ search: text === undefined ? {} : { q: text }, replace: true })}
      />
      {list.isPending ? (
        <Loading rows={12} label="Loading people" />
      ) : list.isError && rows.length === 0 ? (
        <Failed
          error={list.error}
          what="The people could not be listed."
          onRetry={() => void list.refetch()}
        />
      ) : rows.length === 0 ? (
        <Nobody projectId={projectId} q={q} />
      ) : (
        <DataTable
          label="People"
          columns={COLUMNS}
          rows={rows}
          rowKey={({ uuid }) => uuid}
          openLabel={({ name }) => `Open ${name}`}
          onOpen={({ uuid }) =>
            void navigate({
              to: '/project/$projectId/persons/$personId',
              params: { projectId, personId: uuid },
            })
          }
          onEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError)
              void list.fetchNextPage()
          }}
          foot={
            list.isFetchNextPageError ? (
              <Failed
                error={list.error}
                what="The others could not be listed."
                onRetry={() => void list.fetchNextPage()}
              />
            ) : list.hasNextPage ? (
              'Loading more people'
            ) : (
              `${countText(rows.length)} in all`
            )
          }
        />
      )}
    </Page>
  )
}

function Nobody({ projectId, q }: { projectId: string; q: string }) {
  if (q !== '')
    return (
      <Empty title={`Nobody matches “${q}”.`}>
        A part of a name, an e-mail address or a distinct id finds them.
      </Empty>
    )
  return (
    <Empty
      title="Nobody yet"
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
      Events belong to people. Whoever your events name by a distinct id is listed here, with their properties
      and all that they did.
    </Empty>
  )
}

const COLUMNS: readonly Column<Person>[] = [
  {
    key: 'name',
    title: 'Person',
    width: 'minmax(140px, 2fr)',
    cell: (person) => <b title={person.name}>{givenName(person)}</b>,
  },
  {
    key: 'email',
    title: 'E-mail',
    width: '1.6fr',
    isExtra: true,
    cell: ({ properties: { email } }) =>
      email === undefined || email === null ? <span className="quiet">–</span> : cellText(email),
  },
  {
    key: 'identified',
    title: 'Identified',
    width: '110px',
    isExtra: true,
    cell: ({ is_identified }) => (is_identified ? 'yes' : <span className="quiet">anonymous</span>),
  },
  {
    key: 'ids',
    title: 'Ids',
    width: '80px',
    align: 'end',
    isExtra: true,
    cell: ({ distinct_ids: { length } }) =>
      length >= LISTED_IDS ? `${LISTED_IDS}+` : <Count value={length} />,
  },
  {
    key: 'since',
    title: 'First seen',
    width: '150px',
    align: 'end',
    cell: ({ created_at }) => <Time value={created_at} />,
  },
]
