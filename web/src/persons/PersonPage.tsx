// One person: what they did, what is known of them, the ids they came with, the groups they belong to.
import { Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, type LinkProps } from '@tanstack/react-router'
import { toFailure } from '../api/failure'
import { DEFAULT_COLUMNS } from '../events/columns'
import { EventDetails } from '../events/EventDetails'
import { EventTable } from '../events/EventTable'
import { eventsQuery, groupTypesQuery } from '../events/queries'
import { NotFound } from '../frame/Problems'
import { Details } from '../ui/Details'
import { countText } from '../ui/format'
import { Page, TabLinks } from '../ui/Page'
import { PropertyTable } from '../ui/PropertyTable'
import { Empty, Failed, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { TimeRange } from '../ui/TimeRange'
import { Copyable, Time } from '../ui/Values'
import classes from './Persons.module.css'
import { givenName, groupsOfPersonQuery, personQuery, type Person } from './queries'
import type { PersonSearch, Tab } from './search'

const route = getRouteApi('/frame/project/$projectId/persons/$personId')
const NAMES: Record<Tab, string> = {
  events: 'Events',
  properties: 'Properties',
  ids: 'Distinct ids',
  groups: 'Groups',
}
/** One answer holds no more ids. */
const MOST_IDS = 2_500

export function PersonPage() {
  const { projectId, personId } = route.useParams()
  const query = useQuery(personQuery(projectId, personId))
  if (query.data) return <Shown person={query.data} />
  if (query.isError && toFailure(query.error).status === 404) return <NotFound />
  return (
    <Page title="Person" crumbs={[peopleCrumb(projectId)]}>
      {query.isError ? (
        <Failed
          error={query.error}
          what="The person could not be shown."
          onRetry={() => void query.refetch()}
        />
      ) : (
        <Loading label="Loading the person" />
      )}
    </Page>
  )
}

const peopleCrumb = (projectId: string) => ({
  label: 'People',
  link: { to: '/project/$projectId/persons', params: { projectId } } as LinkProps,
})

function Shown({ person }: { person: Person }) {
  const { projectId, personId } = route.useParams()
  const { tab = 'events' } = route.useSearch()
  const { distinct_ids } = person
  const mark = (each: Tab) =>
    each === 'ids' ? <span className="quiet">{countText(distinct_ids.length)}</span> : undefined
  return (
    <Page
      title={givenName(person)}
      crumbs={[peopleCrumb(projectId)]}
      state={
        <>
          {person.name !== givenName(person) && <span className="quiet">{person.name}</span>}
          <Status kind={person.is_identified ? 'delivered' : 'waiting'}>
            {person.is_identified ? 'identified' : 'anonymous'}
          </Status>
          <span className="quiet">
            first seen <Time value={person.created_at} />
          </span>
        </>
      }
      tabs={
        <TabLinks
          label="About this person"
          value={tab}
          tabs={(Object.keys(NAMES) as Tab[]).map((value) => ({
            value,
            label: NAMES[value],
            mark: mark(value),
            link: {
              to: '/project/$projectId/persons/$personId',
              params: { projectId, personId },
              search: { tab: value },
            },
          }))}
        />
      }
    >
      {tab === 'events' && <Events person={person} />}
      {tab === 'properties' && (
        <div className={classes.properties}>
          <PropertyTable label="Properties of the person" properties={person.properties} />
        </div>
      )}
      {tab === 'ids' && <Ids ids={distinct_ids} uuid={person.uuid} />}
      {tab === 'groups' && <Groups person={person} />}
    </Page>
  )
}

function Events({ person }: { person: Person }) {
  const { projectId } = route.useParams()
  const { after, before, open } = route.useSearch()
  const navigate = route.useNavigate()
  const range = { ...(after === undefined ? {} : { after }), ...(before === undefined ? {} : { before }) }
  const list = useInfiniteQuery(eventsQuery({ projectId, filters: [], personId: person.uuid, ...range }))
  const known = list.data?.pages.flatMap(({ events }) => events).find(({ id }) => id === open)
  const change = (next: PersonSearch) => void navigate({ search: next })
  return (
    <>
      <div className={classes.tools}>
        <TimeRange value={range} onChange={change} />
      </div>
      <EventTable
        list={list}
        columns={DEFAULT_COLUMNS}
        hasPerson={false}
        openId={open}
        onOpen={({ id }) => change({ ...range, open: id })}
        empty={
          <Empty title="No events in this time.">Events of all their distinct ids are listed here.</Empty>
        }
      />
      <Details isOpen={open !== undefined} onClose={() => change(range)} title={known?.event ?? 'Event'}>
        {open !== undefined && <EventDetails projectId={projectId} id={open} known={known} />}
      </Details>
    </>
  )
}

function Ids({ ids, uuid }: { ids: readonly string[]; uuid: string }) {
  return (
    <>
      <p className="quiet">
        In the order in which they became known
        {ids.length >= MOST_IDS ? `, the first ${countText(MOST_IDS)}` : ''}. The person’s own id is{' '}
        <Copyable value={uuid} />
      </p>
      <ul className={classes.ids}>
        {ids.map((id) => (
          <li key={id}>
            <Copyable value={id} />
          </li>
        ))}
      </ul>
    </>
  )
}

function Groups({ person }: { person: Person }) {
  const { projectId } = route.useParams()
  const types = useQuery(groupTypesQuery(projectId))
  const indexes = (types.data ?? []).map(({ group_type_index }) => group_type_index)
  const groups = useQuery({
    ...groupsOfPersonQuery(projectId, person.uuid, indexes),
    enabled: types.isSuccess,
  })
  const failed = [types, groups].find(({ isError }) => isError)
  if (failed)
    return (
      <Failed
        error={failed.error}
        what="The groups could not be listed."
        onRetry={() => void failed.refetch()}
      />
    )
  if (!types.data || !groups.data) return <Loading rows={4} label="Loading groups" />
  if (groups.data.length === 0)
    return (
      <Empty title="In no group">
        Events name groups, such as a company or a team, with <code>$groups</code>. Those that this person’s
        events name are listed here.
      </Empty>
    )
  const nameOf = (index: number) =>
    types.data.find(({ group_type_index }) => group_type_index === index)?.group_type ?? `Group ${index}`
  return groups.data.map(({ index, key, properties, last_seen }) => (
    <section key={`${index} ${key}`} className={classes.group}>
      <Title order={2}>
        <span className="quiet">{nameOf(index)}</span> {key}
        <span className="quiet">
          last named <Time value={last_seen} />
        </span>
      </Title>
      <PropertyTable label={`Properties of ${key}`} properties={properties} />
    </section>
  ))
}
