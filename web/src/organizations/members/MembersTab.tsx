// Who belongs to the organization.
import { useQuery } from '@tanstack/react-query'
import { answer, api, type Schema } from '../../api/client'
import { useMe, useOrganization } from '../../api/me'
import { usePages } from '../../api/pages'
import type { Column } from '../../ui/DataTable'
import { Details } from '../../ui/Details'
import { GuardedLink } from '../../ui/Guarded'
import { PagedTable } from '../../ui/PagedTable'
import { SearchInput } from '../../ui/SearchInput'
import { Empty, Failed, Loading } from '../../ui/States'
import { Status } from '../../ui/Status'
import { TextLink } from '../../ui/TextLink'
import { Toolbar } from '../../ui/Toolbar'
import { Time } from '../../ui/Values'
import { useAddress } from '../page'
import { inviteDenial, levelName } from '../rights'
import { MemberDetails, nameOf } from './MemberDetails'

type Member = Schema<'Member'>

export function MembersTab() {
  const organization = useOrganization()
  const me = useMe()
  const { search, filter, open, close } = useAddress()
  const pages = usePages(['members', organization.id, search.search ?? ''], (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/members/', {
        params: { path: { organization_id: organization.id }, query: { ...page, search: search.search } },
        signal,
      }),
    ),
  )
  const invite = {
    to: '/organization/$organizationId/$tab',
    params: { organizationId: organization.id, tab: 'invites' },
    search: { open: 'new' },
  } as const
  const columns: Column<Member>[] = [
    {
      key: 'person',
      title: 'Person',
      width: 'minmax(140px, 2fr)',
      cell: ({ user }) => (
        <>
          {nameOf(user)} <span className="quiet">{user.uuid === me.uuid ? '(you)' : user.email}</span>
        </>
      ),
    },
    { key: 'level', title: 'Level', width: '90px', cell: ({ level }) => levelName(level) },
    {
      key: 'two-factor',
      title: 'Second factor',
      width: '130px',
      isExtra: true,
      cell: ({ is_2fa_enabled }) => (
        <Status kind={is_2fa_enabled ? 'delivered' : 'waiting'}>{is_2fa_enabled ? 'on' : 'off'}</Status>
      ),
    },
    {
      key: 'seen',
      title: 'Last sign-in',
      width: '150px',
      isExtra: true,
      cell: ({ last_login }) => <Time value={last_login} />,
    },
    {
      key: 'joined',
      title: 'Joined',
      width: '150px',
      isExtra: true,
      cell: ({ joined_at }) => <Time value={joined_at} />,
    },
  ]
  return (
    <>
      <Toolbar
        actions={
          <GuardedLink denial={inviteDenial(organization)} link={invite}>
            Invite people
          </GuardedLink>
        }
      >
        <SearchInput
          label="Find by name or address"
          value={search.search}
          onChange={(text) => filter({ search: text })}
        />
      </Toolbar>
      <PagedTable
        label="Members"
        pages={pages}
        columns={columns}
        rowKey={({ user }) => user.uuid}
        onOpen={({ user }) => open(user.uuid)}
        openLabel={({ user }) => `Open ${user.email}`}
        openKey={search.open}
        failure="The members could not be shown."
        empty={
          <Empty
            title="Nobody by that name or address belongs to this organization."
            action={<TextLink {...invite}>Invite them</TextLink>}
          />
        }
      />
      <Details isOpen={search.open !== undefined} onClose={close} title="Member">
        <OpenMember uuid={search.open!} onClose={close} />
      </Details>
    </>
  )
}

function OpenMember({ uuid, onClose }: { uuid: string; onClose: () => void }) {
  const organization = useOrganization()
  const member = useQuery({
    queryKey: ['member', organization.id, uuid],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/organizations/{organization_id}/members/{user__uuid}/', {
          params: { path: { organization_id: organization.id, user__uuid: uuid } },
          signal,
        }),
      ),
  })
  if (member.isPending) return <Loading rows={5} />
  if (member.isError)
    return (
      <Failed
        error={member.error}
        what="This member could not be shown."
        onRetry={() => void member.refetch()}
      />
    )
  return <MemberDetails member={member.data} onGone={onClose} />
}
