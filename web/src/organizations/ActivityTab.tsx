// Who changed what in the organization, and whether the log can be believed.
import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ENTRY_COLUMNS } from '../activity-log/entry-columns'
import { EntryDetails } from '../activity-log/EntryDetails'
import { entryText, THINGS } from '../activity-log/words'
import { answer, api } from '../api/client'
import { useOrganization, useOrganizationDenial } from '../api/me'
import { usePages } from '../api/pages'
import { Details } from '../ui/Details'
import { countText } from '../ui/format'
import { PagedTable } from '../ui/PagedTable'
import { Empty, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { Toolbar } from '../ui/Toolbar'
import { Copyable } from '../ui/Values'
import { useAddress } from './page'

const CHECK_MS = 300_000
const DAY_MS = 86_400_000

export function ActivityTab() {
  const denial = useOrganizationDenial('admin')
  if (denial !== null)
    return (
      <Empty title="The activity log is for admins.">
        It says who changed what in the organization, and when. Ask an admin or an owner.
      </Empty>
    )
  return <Activity />
}

function Activity() {
  const { id: organization_id } = useOrganization()
  const { search, filter, open, close } = useAddress()
  const { user, what, from, to } = search
  const query = {
    user: user === undefined ? undefined : Number(user),
    scope: what,
    start_date: startOf(from),
    end_date: endOf(to),
  }
  const pages = usePages(['activity', organization_id, query], (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/activity_log/', {
        params: { path: { organization_id }, query: { ...query, ...page } },
        signal,
      }),
    ),
  )
  const opened = pages.rows?.find(({ id }) => id === search.open)
  const isFiltered = [user, what, from, to].some((value) => value !== undefined)
  return (
    <>
      <Toolbar actions={<Chain />}>
        <Who value={user} onChange={(id) => filter({ user: id })} />
        <NativeSelect
          label="What"
          value={what ?? ''}
          data={[
            { value: '', label: 'Everything' },
            ...Object.entries(THINGS).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(event) => filter({ what: event.currentTarget.value || undefined })}
        />
        <TextInput
          type="date"
          label="From"
          value={from ?? ''}
          onChange={(event) => filter({ from: event.currentTarget.value || undefined })}
        />
        <TextInput
          type="date"
          label="To"
          value={to ?? ''}
          onChange={(event) => filter({ to: event.currentTarget.value || undefined })}
        />
      </Toolbar>
      <PagedTable
        label="Activity log"
        pages={pages}
        columns={ENTRY_COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ id }) => open(id)}
        openLabel={(entry) => `Open: ${entryText(entry)}`}
        openKey={search.open}
        failure="The log could not be shown."
        empty={
          <Empty title={isFiltered ? 'Nothing in the log fits.' : 'Nothing has been changed yet.'}>
            Every change of the organization leaves an entry here.
          </Empty>
        }
      />
      <Details isOpen={search.open !== undefined} onClose={close} title="Entry">
        {opened ? (
          <EntryDetails entry={opened} />
        ) : pages.rows ? (
          <Empty title="This entry is not on the page.">Change the filters, or scroll further down.</Empty>
        ) : (
          <Loading rows={5} />
        )}
      </Details>
    </>
  )
}

function Who({ value, onChange }: { value: string | undefined; onChange: (id: string | undefined) => void }) {
  const { id: organization_id } = useOrganization()
  const members =
    useQuery({
      queryKey: ['members', organization_id, 'choices'],
      queryFn: ({ signal }) =>
        answer(
          api.GET('/api/organizations/{organization_id}/members/', {
            params: { path: { organization_id }, query: { limit: 1000 } },
            signal,
          }),
        ),
    }).data?.results ?? []
  const choices = members.map(({ user }) => ({ value: String(user.id), label: user.email }))
  // Somebody who has left can still be asked for by the address.
  const left =
    value !== undefined && !choices.some((choice) => choice.value === value)
      ? [{ value, label: `User ${value}` }]
      : []
  return (
    <NativeSelect
      label="Who"
      value={value ?? ''}
      data={[{ value: '', label: 'Everybody' }, ...choices, ...left]}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  )
}

/** Each entry vouches for the one before it: what was altered or taken out is found. */
function Chain() {
  const { id: organization_id } = useOrganization()
  const check = useQuery({
    queryKey: ['activity-chain', organization_id],
    staleTime: CHECK_MS,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/organizations/{organization_id}/activity_log/chain/', {
          params: { path: { organization_id } },
          signal,
        }),
      ),
  })
  if (check.isPending) return <Status kind="running">Checking the chain</Status>
  if (check.isError) return <Status kind="skipped">The chain was not checked: {check.error.message}</Status>
  const { is_intact, entries, broken_entry } = check.data
  return is_intact ? (
    <Status kind="delivered">The chain is intact: {countText(entries)} entries</Status>
  ) : (
    <span>
      <Status kind="failed">The chain breaks at entry</Status> <Copyable value={broken_entry ?? ''} />
    </span>
  )
}

const startOf = (day: string | undefined) => momentOf(day, 0)
/** The day itself is part of it. */
const endOf = (day: string | undefined) => momentOf(day, DAY_MS)

function momentOf(day: string | undefined, later_ms: number): string | undefined {
  const start = Date.parse(`${day ?? ''}T00:00:00`)
  return Number.isNaN(start) ? undefined : new Date(start + later_ms).toISOString()
}
