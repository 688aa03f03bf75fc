// Name and rules of the organization, and the ways out.
import { Group, Stack, Switch, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { meQuery, organizationQuery, useOrganization, useOrganizationDenial } from '../api/me'
import { Confirm } from '../ui/Confirm'
import { Facts } from '../ui/Facts'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { GuardedButton } from '../ui/Guarded'
import { done } from '../ui/notify'
import { Section } from '../ui/Section'
import { Unsaved } from '../ui/Unsaved'
import { Copyable, Time } from '../ui/Values'
import { leavingDenial, levelName } from './rights'

const RULES = [
  {
    name: 'enforce_2fa',
    label: 'Everybody needs a second factor',
    text: 'Sessions without one can do nothing but set one up. API keys are not affected.',
  },
  {
    name: 'enforce_2fa_with_sso',
    label: 'Also after sign-in through an identity provider',
    text: 'Otherwise the provider decides how well it looks, and our second factor is not asked for. Counts where everybody needs one.',
  },
  {
    name: 'members_can_invite',
    label: 'Members may invite members',
    text: 'Otherwise only admins and owners invite.',
  },
  {
    name: 'members_can_use_personal_api_keys',
    label: 'Members may use personal API keys',
    text: 'Otherwise their keys open nothing of this organization. Admins and owners keep theirs.',
  },
  {
    name: 'is_member_join_email_enabled',
    label: 'Tell everybody by mail when somebody joins',
    text: 'Each person can switch these mails off for themselves.',
  },
] as const

export function GeneralTab() {
  const organization = useOrganization()
  return (
    <>
      <Section title="About" text="What the API calls it.">
        <Facts
          facts={[
            ['Id', <Copyable key="id" value={organization.id} />],
            ['Slug', <Copyable key="slug" value={organization.slug} />],
            ['Members', organization.member_count],
            ['Your level', levelName(organization.membership_level)],
            ['Made', <Time key="made" value={organization.created_at} />],
          ]}
        />
      </Section>
      <Settings key={organization.updated_at} />
      <Section
        title="Leave or delete"
        text="Whoever leaves loses access at once. A deleted organization takes its projects, events, exports and apps with it."
      >
        <WaysOut />
      </Section>
    </>
  )
}

function Settings() {
  const organization = useOrganization()
  const queries = useQueryClient()
  const denial = useOrganizationDenial('admin')
  const {
    name,
    enforce_2fa,
    enforce_2fa_with_sso,
    members_can_invite,
    members_can_use_personal_api_keys,
    is_member_join_email_enabled,
  } = organization
  const form = useForm({
    initial: {
      name,
      enforce_2fa,
      enforce_2fa_with_sso,
      members_can_invite,
      members_can_use_personal_api_keys,
      is_member_join_email_enabled,
    },
    draft: denial === null ? `organization ${organization.id}` : undefined,
    async submit(body) {
      const changed = await answer(
        api.PATCH('/api/organizations/{id}/', { params: { path: { id: organization.id } }, body }),
      )
      queries.setQueryData(organizationQuery(organization.id).queryKey, changed)
      await queries.invalidateQueries({ queryKey: meQuery.queryKey })
      done('The settings were saved.')
    },
  })
  return (
    <Section title="Settings" text="They hold for everybody in the organization.">
      <form ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="lg">
          <FormProblem>{form.problem}</FormProblem>
          <TextInput label="Name" required disabled={denial !== null} {...form.field('name')} />
          {RULES.map((rule) => (
            <Switch
              key={rule.name}
              name={rule.name}
              label={rule.label}
              description={rule.text}
              disabled={denial !== null}
              checked={form.values[rule.name]}
              onChange={(event) => form.set(rule.name, event.currentTarget.checked)}
            />
          ))}
          <Group>
            <GuardedButton type="submit" denial={denial} loading={form.isBusy}>
              Save settings
            </GuardedButton>
            <Unsaved form={form} />
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

function WaysOut() {
  const organization = useOrganization()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const denial = useOrganizationDenial('owner')
  const [asking, setAsking] = useState<'leave' | 'delete' | null>(null)
  const { id, name, teams } = organization
  const gone = async (message: string) => {
    await queries.invalidateQueries({ queryKey: meQuery.queryKey })
    done(message)
    await navigate({ to: '/' })
  }
  return (
    <Group gap="sm">
      <GuardedButton
        variant="default"
        denial={leavingDenial(organization)}
        onClick={() => setAsking('leave')}
      >
        Leave organization
      </GuardedButton>
      <GuardedButton variant="default" denial={denial} onClick={() => setAsking('delete')}>
        Delete organization
      </GuardedButton>
      <Confirm
        isOpen={asking === 'leave'}
        onClose={() => setAsking(null)}
        title={`Leave ${name}?`}
        button="Leave organization"
        onConfirm={async () => {
          const params = { path: { organization_id: id, user__uuid: '@me' } }
          await answer(api.DELETE('/api/organizations/{organization_id}/members/{user__uuid}/', { params }))
          await gone(`You left ${name}.`)
        }}
      >
        You lose access at once. Somebody has to invite you again.
      </Confirm>
      <Confirm
        isOpen={asking === 'delete'}
        onClose={() => setAsking(null)}
        title={`Delete ${name}?`}
        button="Delete organization"
        typed={name}
        onConfirm={async () => {
          await answer(api.DELETE('/api/organizations/{id}/', { params: { path: { id } } }))
          await gone(`${name} was deleted.`)
        }}
      >
        {teams.length === 1 ? `The project ${teams[0]!.name}` : `${teams.length} projects`} with all events,
        exports and apps,{' '}
        {organization.member_count === '1'
          ? 'your membership'
          : `the memberships of ${organization.member_count} people`}
        , invites, domains and service keys are gone. This cannot be undone.
      </Confirm>
    </Group>
  )
}
