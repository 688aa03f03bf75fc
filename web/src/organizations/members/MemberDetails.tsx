// One member: what is known, the level, and the way out.
import { Group, Radio, Stack, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { LEVELS } from '../../api/levels'
import { meQuery, organizationQuery, useMe, useOrganization } from '../../api/me'
import { Confirm } from '../../ui/Confirm'
import { Facts } from '../../ui/Facts'
import { useForm } from '../../ui/form'
import { FormProblem } from '../../ui/FormProblem'
import { GuardedButton } from '../../ui/Guarded'
import { done } from '../../ui/notify'
import { Status } from '../../ui/Status'
import { Copyable, Time } from '../../ui/Values'
import { changeDenial, LEVEL_TEXTS, levelName, removalDenial } from '../rights'

type Member = Schema<'Member'>

export const nameOf = ({ first_name, last_name, email }: Schema<'User'>) =>
  [first_name, last_name].join(' ').trim() || email

export function MemberDetails({ member, onGone }: { member: Member; onGone: () => void }) {
  const { user } = member
  return (
    <Stack gap="xl">
      <Facts
        facts={[
          ['Name', nameOf(user)],
          ['E-mail', <Copyable key="email" value={user.email} />],
          ['Level', levelName(member.level)],
          [
            'Second factor',
            <Status key="2fa" kind={member.is_2fa_enabled ? 'delivered' : 'waiting'}>
              {member.is_2fa_enabled ? 'on' : 'off'}
            </Status>,
          ],
          ['Single sign-on', member.has_social_auth ? 'linked' : 'not linked'],
          ['Last sign-in', <Time key="seen" value={member.last_login} />],
          ['Joined', <Time key="joined" value={member.joined_at} />],
        ]}
      />
      <LevelForm key={member.level} member={member} />
      <MemberKeys member={member} />
      <Removal member={member} onGone={onGone} />
    </Stack>
  )
}

function useMeeting({ user, level }: Member) {
  const isSelf = useMe().uuid === user.uuid
  const { membership_level, owner_count } = useOrganization()
  return { actor: membership_level, target: level, isSelf, owners: owner_count }
}

function LevelForm({ member }: { member: Member }) {
  const organization = useOrganization()
  const queries = useQueryClient()
  const meeting = useMeeting(member)
  const denial = changeDenial(meeting)
  const form = useForm({
    initial: { level: String(member.level) },
    async submit({ level }) {
      await answer(
        api.PATCH('/api/organizations/{organization_id}/members/{user__uuid}/', {
          params: { path: { organization_id: organization.id, user__uuid: member.user.uuid } },
          body: { level: Number(level) as 1 | 8 | 15 },
        }),
      )
      done(`${nameOf(member.user)} is now ${levelName(Number(level)).toLowerCase()}.`)
      await queries.invalidateQueries({ queryKey: ['members', organization.id] })
      await queries.invalidateQueries({ queryKey: ['member', organization.id, member.user.uuid] })
      // How many owners there are.
      await queries.invalidateQueries({ queryKey: organizationQuery(organization.id).queryKey })
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md" align="flex-start">
        <FormProblem>{form.problem}</FormProblem>
        <Radio.Group
          label="Level"
          value={form.values.level}
          onChange={(level) => form.set('level', level)}
          error={form.errors.level}
        >
          <Stack gap="sm" mt="sm">
            {LEVEL_TEXTS.map(({ level, text }) => (
              <Radio
                key={level}
                value={String(level)}
                label={levelName(level)}
                description={text}
                disabled={denial !== null || level > meeting.actor}
              />
            ))}
          </Stack>
        </Radio.Group>
        <GuardedButton
          type="submit"
          variant="default"
          denial={denial}
          loading={form.isBusy}
          disabled={form.values.level === String(member.level)}
        >
          Change level
        </GuardedButton>
      </Stack>
    </form>
  )
}

/** What would stop working for them, should they go. */
function MemberKeys({ member }: { member: Member }) {
  const organization = useOrganization()
  const isOwn = useMe().uuid === member.user.uuid
  const isShown = isOwn || organization.membership_level >= LEVELS.admin
  const keys = useQuery({
    queryKey: ['member-keys', organization.id, member.user.uuid],
    enabled: isShown,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/organizations/{organization_id}/members/{user__uuid}/scoped_api_keys/', {
          params: { path: { organization_id: organization.id, user__uuid: member.user.uuid } },
          signal,
        }),
      ),
  }).data?.keys
  if (!keys || keys.length === 0) return null
  return (
    <Stack gap="sm">
      <Title order={3}>Personal API keys that open this organization</Title>
      <Facts
        facts={keys.map(({ name, last_used_at }) => [
          name,
          last_used_at === null ? <span className="quiet">not used yet</span> : <Time value={last_used_at} />,
        ])}
      />
    </Stack>
  )
}

function Removal({ member, onGone }: { member: Member; onGone: () => void }) {
  const organization = useOrganization()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const meeting = useMeeting(member)
  const [isAsking, setAsking] = useState(false)
  const { isSelf } = meeting
  const name = nameOf(member.user)
  const remove = async () => {
    await answer(
      api.DELETE('/api/organizations/{organization_id}/members/{user__uuid}/', {
        params: { path: { organization_id: organization.id, user__uuid: isSelf ? '@me' : member.user.uuid } },
      }),
    )
    done(isSelf ? `You left ${organization.name}.` : `${name} no longer belongs to ${organization.name}.`)
    if (isSelf) {
      await queries.invalidateQueries({ queryKey: meQuery.queryKey })
      await navigate({ to: '/' })
      return
    }
    onGone()
    await queries.invalidateQueries({ queryKey: ['members', organization.id] })
    await queries.invalidateQueries({ queryKey: organizationQuery(organization.id).queryKey })
  }
  return (
    <Group>
      <GuardedButton variant="default" denial={removalDenial(meeting)} onClick={() => setAsking(true)}>
        {isSelf ? 'Leave organization' : 'Remove from organization'}
      </GuardedButton>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={isSelf ? `Leave ${organization.name}?` : `Remove ${name}?`}
        button={isSelf ? 'Leave organization' : 'Remove member'}
        onConfirm={remove}
      >
        {isSelf ? 'You lose' : `${name} loses`} access to {organization.name} at once, with sessions and
        personal API keys alike. What was made here stays.
      </Confirm>
    </Group>
  )
}
