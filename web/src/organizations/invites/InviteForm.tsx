// Inviting people, several at once; then their links, which are shown once.
import { Button, Checkbox, Group, MultiSelect, NativeSelect, Stack, Text, Textarea } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { LEVELS } from '../../api/levels'
import { useOrganization } from '../../api/me'
import { preflightQuery } from '../../api/preflight'
import { useForm } from '../../ui/form'
import { FormProblem } from '../../ui/FormProblem'
import { done } from '../../ui/notify'
import { ShownOnce } from '../../ui/ShownOnce'
import { grantable } from '../rights'
import { aboutOne, MOST_AT_ONCE, readAddresses } from './addresses'

type MadeInvite = Schema<'MadeInvite'>

export function InviteForm({ onClose }: { onClose: () => void }) {
  const organization = useOrganization()
  // Unknown for a moment: neither what mail takes nor that there is none is shown then.
  const hasMail = useQuery(preflightQuery).data?.email_service_available
  const queries = useQueryClient()
  const [made, setMade] = useState<readonly MadeInvite[] | null>(null)
  const form = useForm({
    initial: {
      target_email: '',
      level: '1',
      private_project_access: [] as string[],
      access: 'member',
      message: '',
      sendEmail: true,
    },
    draft: `invite ${organization.id}`,
    async submit({ target_email, level, private_project_access, access, message, sendEmail }) {
      const invitees = readAddresses(target_email)
      // What was chosen before another level was is no longer shown.
      const opened = level === String(LEVELS.member) ? private_project_access : []
      const promised = opened.map((id) => ({ id: Number(id), level: access }))
      const body = invitees.map((invitee) => ({
        ...invitee,
        level: Number(level) as 1 | 8 | 15,
        private_project_access: promised,
        message: message || null,
        send_email: sendEmail,
      }))
      try {
        const params = { path: { organization_id: organization.id } }
        const invites = await answer(
          api.POST('/api/organizations/{organization_id}/invites/bulk/', { params, body: body as never }),
        )
        setMade([invites].flat())
        done(
          invitees.length === 1
            ? `Invited ${invitees[0]!.target_email}.`
            : `Invited ${invitees.length} people.`,
        )
      } catch (error) {
        throw aboutOne(error, invitees)
      }
      await queries.invalidateQueries({ queryKey: ['invites', organization.id] })
    },
  })
  if (made) return <Links invites={made} onClose={onClose} />
  const count = readAddresses(form.values.target_email).length
  // Admins open every project anyway; the others are opened to all members, or by rules.
  const closed =
    organization.membership_level >= LEVELS.admin && form.values.level === String(LEVELS.member)
      ? organization.teams.filter(({ access_control }) => access_control)
      : []
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="lg">
        <FormProblem>{form.problem}</FormProblem>
        <Textarea
          label="E-mail addresses"
          description={`One a line, ${MOST_AT_ONCE} at most. All are invited, or none.`}
          autosize
          minRows={3}
          maxRows={12}
          required
          data-autofocus
          {...form.field('target_email')}
        />
        <NativeSelect
          label="Level"
          data={grantable(organization.membership_level)}
          {...form.field('level')}
        />
        {closed.length > 0 && (
          <>
            <MultiSelect
              label="Projects that are not open to every member"
              description="They are opened to whoever joins by this invite."
              name="private_project_access"
              data={closed.map(({ id, name }) => ({ value: String(id), label: name }))}
              searchable
              comboboxProps={{ withinPortal: false }}
              value={form.values.private_project_access}
              onChange={(ids) => form.set('private_project_access', ids)}
              error={form.errors.private_project_access}
            />
            {form.values.private_project_access.length > 0 && (
              <NativeSelect
                label="Access to these projects"
                data={[
                  { value: 'member', label: 'Uses them' },
                  { value: 'admin', label: 'Manages them' },
                ]}
                {...form.field('access')}
              />
            )}
          </>
        )}
        {hasMail === true && (
          <>
            <Textarea
              label="Message"
              description="Stands in the mail, as plain text."
              autosize
              minRows={2}
              maxRows={8}
              {...form.field('message')}
            />
            <Checkbox
              label="Send the invites by mail"
              description="Otherwise you pass the links on yourself. Either way they work for three days."
              checked={form.values.sendEmail}
              onChange={(event) => form.set('sendEmail', event.currentTarget.checked)}
            />
          </>
        )}
        {hasMail === false && (
          <Text size="sm" c="dimmed">
            This server has no mail set up (<code>SMTP_URL</code>). You get the links here to pass on
            yourself; they work for three days.
          </Text>
        )}
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy} disabled={count === 0}>
            {count > 1 ? `Invite ${count} people` : 'Create invite'}
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export function Links({ invites, onClose }: { invites: readonly MadeInvite[]; onClose: () => void }) {
  const isMailed = invites.some(({ emailing_attempt_made }) => emailing_attempt_made)
  return (
    <Stack gap="lg">
      <Text>
        {isMailed ? 'The mails are on their way.' : 'No mail was sent: pass the links on.'} A link lets
        whoever has it join with that address, once.
      </Text>
      {invites.map(({ id, target_email, link, emailing_attempt_made }) => (
        <ShownOnce key={id} value={link} copy="Copy link" isSafe={emailing_attempt_made}>
          The link of <b>{target_email}</b> is shown once. Resending makes a new one.
        </ShownOnce>
      ))}
      <Group>
        <Button variant="default" onClick={onClose}>
          {isMailed ? 'Close' : invites.length > 1 ? 'I have copied them' : 'I have copied it'}
        </Button>
      </Group>
    </Stack>
  )
}
