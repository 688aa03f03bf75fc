// Who was invited and has not joined yet.
import { answer, api, type Schema } from '../../api/client'
import { useOrganization } from '../../api/me'
import { usePages } from '../../api/pages'
import type { Column } from '../../ui/DataTable'
import { Details } from '../../ui/Details'
import { GuardedButton } from '../../ui/Guarded'
import { PagedTable } from '../../ui/PagedTable'
import { Empty, Loading } from '../../ui/States'
import { Status } from '../../ui/Status'
import { Toolbar } from '../../ui/Toolbar'
import { Time } from '../../ui/Values'
import { useAddress } from '../page'
import { inviteDenial, levelName } from '../rights'
import { InviteDetails } from './InviteDetails'
import { InviteForm } from './InviteForm'

type Invite = Schema<'Invite'>

export const InviteState = ({ invite }: { invite: Invite }) => (
  <Status kind={invite.is_expired ? 'failed' : 'waiting'}>{invite.is_expired ? 'expired' : 'pending'}</Status>
)

const COLUMNS: readonly Column<Invite>[] = [
  { key: 'address', title: 'Address', width: 'minmax(150px, 2fr)', cell: ({ target_email }) => target_email },
  { key: 'state', title: 'State', width: '100px', cell: (invite) => <InviteState invite={invite} /> },
  { key: 'level', title: 'Level', width: '90px', isExtra: true, cell: ({ level }) => levelName(level) },
  {
    key: 'by',
    title: 'Invited by',
    isExtra: true,
    cell: ({ created_by }) => created_by?.email ?? <span className="quiet">a key</span>,
  },
  {
    key: 'expires',
    title: 'Works until',
    width: '150px',
    isExtra: true,
    cell: ({ expires_at }) => <Time value={expires_at} />,
  },
]

export function InvitesTab() {
  const organization = useOrganization()
  const { search, open, close } = useAddress()
  const denial = inviteDenial(organization)
  const pages = usePages(['invites', organization.id], (page, signal) =>
    answer(
      api.GET('/api/organizations/{organization_id}/invites/', {
        params: { path: { organization_id: organization.id }, query: page },
        signal,
      }),
    ),
  )
  const opened = pages.rows?.find(({ id }) => id === search.open)
  const button = (
    <GuardedButton denial={denial} onClick={() => open('new')}>
      Invite people
    </GuardedButton>
  )
  return (
    <>
      {pages.rows?.length !== 0 && <Toolbar actions={button} />}
      <PagedTable
        label="Invites"
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ id }) => open(id)}
        openLabel={({ target_email }) => `Open the invite of ${target_email}`}
        openKey={search.open}
        failure="The invites could not be shown."
        empty={
          <Empty title="No invite is waiting." action={button}>
            Whoever is invited gets a link that works for three days, and stands here until they have joined.
          </Empty>
        }
      />
      <Details
        isOpen={search.open !== undefined}
        onClose={close}
        title={search.open === 'new' ? 'Invite people' : 'Invite'}
      >
        {search.open === 'new' ? (
          <InviteForm onClose={close} />
        ) : opened ? (
          <InviteDetails invite={opened} onClose={close} />
        ) : pages.rows ? (
          <Empty title="This invite is gone.">It was accepted or taken back.</Empty>
        ) : (
          <Loading rows={5} />
        )}
      </Details>
    </>
  )
}
