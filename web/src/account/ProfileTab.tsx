import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { meQuery, useMe } from '../api/me'
import { Confirm } from '../ui/Confirm'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { done, refused } from '../ui/notify'
import { Section } from '../ui/Section'
import { ME, useAccountChange } from './page'

export function ProfileTab() {
  return (
    <>
      <Section title="Name" text="Other members see it beside your address.">
        <NameForm />
      </Section>
      <Section
        title="E-mail"
        text="You sign in with it, and mails go there. A new address counts once you have followed the link that is sent to it."
      >
        <AddressForm />
      </Section>
      <Section
        title="Delete account"
        text="Your memberships, sessions, keys and second factor go with it, and so do organizations that nobody else belongs to."
      >
        <Deletion />
      </Section>
    </>
  )
}

function NameForm() {
  const { first_name, last_name } = useMe()
  const change = useAccountChange()
  const form = useForm({
    initial: { first_name, last_name },
    async submit(fields) {
      await change(fields)
      done('Your name was changed.')
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md" align="stretch">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput label="First name" autoComplete="given-name" required {...form.field('first_name')} />
        <TextInput label="Last name" autoComplete="family-name" {...form.field('last_name')} />
        <Group>
          <Button type="submit" variant="default" loading={form.isBusy}>
            Save name
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function AddressForm() {
  const { email, pending_email } = useMe()
  const change = useAccountChange()
  const form = useForm({
    initial: { email },
    draft: 'new address',
    async submit(fields) {
      const account = await change(fields)
      done(
        account.pending_email === null
          ? 'Your address was changed.'
          : `A link was sent to ${account.pending_email}.`,
      )
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <FormProblem>{form.problem}</FormProblem>
        {pending_email !== null && (
          <Pending address={pending_email} onCancelled={() => form.reset({ email })} />
        )}
        <TextInput label="E-mail" type="email" autoComplete="email" required {...form.field('email')} />
        <Group>
          <Button
            type="submit"
            variant="default"
            loading={form.isBusy}
            disabled={form.values.email === email}
          >
            Change address
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Pending({ address, onCancelled }: { address: string; onCancelled: () => void }) {
  const queries = useQueryClient()
  const { email } = useMe()
  const cancel = async () => {
    try {
      queries.setQueryData(
        meQuery.queryKey,
        await answer(api.PATCH('/api/users/cancel_email_change_request/', {})),
      )
      onCancelled()
      done(`Your address stays ${email}.`)
    } catch (error) {
      refused(error)
    }
  }
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm">
        Waiting for the link in the mail to <b>{address}</b>. Until then you sign in with {email}.
      </Text>
      <Button variant="default" onClick={() => void cancel()}>
        Keep the old one
      </Button>
    </Group>
  )
}

function Deletion() {
  const { email, organizations } = useMe()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        Delete account
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Delete your account?"
        button="Delete account"
        typed={email}
        onConfirm={async () => {
          await answer(api.DELETE('/api/users/{uuid}/', { params: ME }))
          location.assign('/login')
        }}
      >
        You lose access to{' '}
        {organizations.length === 1 ? organizations[0]!.name : `${organizations.length} organizations`}. Those
        that nobody else belongs to are deleted with their projects and events. This cannot be undone.
      </Confirm>
    </>
  )
}
