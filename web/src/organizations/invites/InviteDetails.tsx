// One invite: what it says, a new link, or taking it back.
import { Group, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { LEVELS } from '../../api/levels'
import { useMe, useOrganization } from '../../api/me'
import { Confirm } from '../../ui/Confirm'
import { Facts } from '../../ui/Facts'
import { GuardedButton } from '../../ui/Guarded'
import { done, refused } from '../../ui/notify'
import { Status } from '../../ui/Status'
import { Copyable, Time } from '../../ui/Values'
import { inviteDenial, levelName } from '../rights'
import { Links } from './InviteForm'

type Props = { invite: Schema<'Invite'>; onClose: () => void }

export function InviteDetails({ invite, onClose }: Props) {
  const organization = useOrganization()
  const queries = useQueryClient()
  const me = useMe()
  const [made, setMade] = useState<Schema<'MadeInvite'> | null>(null)
  const [isAsking, setAsking] = useState(false)
  const [isSending, setSending] = useState(false)
  const params = { path: { organization_id: organization.id, id: invite.id } }
  const isOwn = invite.created_by?.uuid === me.uuid
  const isAdmin = organization.membership_level >= LEVELS.admin

  const resend = async () => {
    setSending(true)
    try {
      setMade(await answer(api.POST('/api/organizations/{organization_id}/invites/{id}/resend/', { params })))
      done(`The invite of ${invite.target_email} works for another three days.`)
      await queries.invalidateQueries({ queryKey: ['invites', organization.id] })
    } catch (error) {
      refused(error)
    } finally {
      setSending(false)
    }
  }
  const takeBack = async () => {
    await answer(api.DELETE('/api/organizations/{organization_id}/invites/{id}/', { params }))
    done(`The invite of ${invite.target_email} was taken back.`)
    onClose()
    await queries.invalidateQueries({ queryKey: ['invites', organization.id] })
  }

  if (made) return <Links invites={[made]} onClose={onClose} />
  return (
    <Stack gap="xl">
      <Facts
        facts={[
          ['Address', <Copyable key="address" value={invite.target_email} />],
          [
            'State',
            <Status key="state" kind={invite.is_expired ? 'failed' : 'waiting'}>
              {invite.is_expired ? 'expired' : 'pending'}
            </Status>,
          ],
          ['Level', levelName(invite.level)],
          ...(invite.private_project_access.length === 0
            ? []
            : ([['Opens', projectsOpened(invite, organization.teams)]] as const)),
          ['Invited by', invite.created_by?.email ?? 'a service key'],
          ['Made', <Time key="made" value={invite.created_at} />],
          ['Works until', <Time key="until" value={invite.expires_at} />],
          ['Mail', invite.emailing_attempt_made ? 'sent' : 'not sent'],
          ...(invite.message ? [['Message', invite.message] as const] : []),
        ]}
      />
      <Group gap="sm">
        <GuardedButton
          denial={
            inviteDenial(organization) ??
            (invite.level > organization.membership_level ? 'The invite gives more than you may give.' : null)
          }
          loading={isSending}
          onClick={() => void resend()}
        >
          Resend with a new link
        </GuardedButton>
        <GuardedButton
          variant="default"
          denial={isOwn || isAdmin ? null : 'Members can only take back their own invites.'}
          onClick={() => setAsking(true)}
        >
          Take back
        </GuardedButton>
      </Group>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Take the invite back?"
        button="Take back invite"
        onConfirm={takeBack}
      >
        The link that {invite.target_email} has stops working.
      </Confirm>
    </Stack>
  )
}

function projectsOpened(
  { private_project_access }: Schema<'Invite'>,
  projects: readonly { id: number; name: string }[],
): string {
  return private_project_access
    .map(({ id, level }) => {
      const name = projects.find((project) => project.id === id)?.name ?? `project ${id}`
      return level === 'admin' ? `${name} (manages it)` : name
    })
    .join(', ')
}
