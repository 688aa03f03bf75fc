import { Button, Group, PasswordInput, Stack } from '@mantine/core'
import { useMe } from '../api/me'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { done } from '../ui/notify'
import { Section } from '../ui/Section'
import { Username } from '../ui/Username'
import { Identities } from './Identities'
import { useAccountChange } from './page'
import { TwoFactor } from './TwoFactor'

export function SignInTab() {
  return (
    <>
      <Section
        title="Password"
        text="Changing it signs out every other browser. A long sentence that nobody knows is best."
      >
        <PasswordForm />
      </Section>
      <Section
        title="Second factor"
        text="A code of an authenticator app, asked for after the password. Whoever learns your password still cannot get in."
      >
        <TwoFactor />
      </Section>
      <Section
        title="Identity providers"
        text="Those that you have signed in through. Each opens your account without the password."
      >
        <Identities />
      </Section>
    </>
  )
}

const BLANK = { current_password: '', password: '' }

function PasswordForm() {
  const { email, has_password } = useMe()
  const change = useAccountChange()
  const form = useForm({
    initial: BLANK,
    async submit({ current_password, password }) {
      await change({ password, ...(has_password ? { current_password } : {}) })
      form.reset()
      done('Your password was changed. Other browsers were signed out.')
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <Username value={email} />
        <FormProblem>{form.problem}</FormProblem>
        {has_password && (
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            {...form.field('current_password')}
          />
        )}
        <PasswordInput
          label="New password"
          autoComplete="new-password"
          required
          {...form.field('password')}
        />
        <Group>
          <Button type="submit" variant="default" loading={form.isBusy}>
            {has_password ? 'Change password' : 'Set password'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
