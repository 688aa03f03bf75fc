// Questions that requests wait for (api/prompts.ts): sign in again, or confirm who you are. The page below stays as it
// is, with everything that was typed.
import { Button, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { answer, openApi } from '../api/client'
import { Failure } from '../api/failure'
import { meQuery, useMe } from '../api/me'
import { currentPrompt, onPrompt } from '../api/prompts'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Username } from '../ui/Username'

export function Prompts() {
  const open = useSyncExternalStore(onPrompt, currentPrompt)
  const isSignIn = open?.prompt === 'sign-in'
  return (
    <Modal
      opened={open !== null}
      onClose={() => open?.settle(false)}
      title={isSignIn ? 'You were signed out' : 'Confirm that it is you'}
    >
      {open !== null &&
        (isSignIn ? (
          <SignInAgain onDone={() => open.settle(true)} />
        ) : (
          <ConfirmAgain onDone={() => open.settle(true)} />
        ))}
    </Modal>
  )
}

function SignInAgain({ onDone }: { onDone: () => void }) {
  const { email } = useMe()
  const queries = useQueryClient()
  const [needsCode, setNeedsCode] = useState(false)
  const form = useForm({
    initial: { password: '', token: '' },
    async submit({ password, token }) {
      try {
        if (needsCode) await answer(openApi.POST('/api/login/token/', { body: { token } }))
        else await answer(openApi.POST('/api/login/', { body: { email, password } }))
      } catch (error) {
        if (!(error instanceof Failure && error.code === '2fa_required')) throw error
        setNeedsCode(true)
        return
      }
      await queries.invalidateQueries({ queryKey: meQuery.queryKey })
      onDone()
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <Username value={email} />
        <Text>The session of {email} has ended. Sign in to go on where you are.</Text>
        <FormProblem>{form.problem}</FormProblem>
        {needsCode ? (
          <TextInput
            label="Code"
            autoComplete="one-time-code"
            data-autofocus
            required
            {...form.field('token')}
          />
        ) : (
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            data-autofocus
            required
            {...form.field('password')}
          />
        )}
        <Button type="submit" loading={form.isBusy}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

function ConfirmAgain({ onDone }: { onDone: () => void }) {
  const { email, is_2fa_enabled } = useMe()
  const form = useForm({
    initial: { password: '', token: '' },
    async submit({ password, token }) {
      await answer(
        openApi.POST('/api/login/confirm/', { body: { password, ...(is_2fa_enabled ? { token } : {}) } }),
      )
      onDone()
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <Username value={email} />
        <Text>This change needs your password once more, because you signed in a while ago.</Text>
        <FormProblem>{form.problem}</FormProblem>
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          data-autofocus
          required
          {...form.field('password')}
        />
        {is_2fa_enabled && (
          <TextInput
            label="Code of your authenticator"
            autoComplete="one-time-code"
            required
            {...form.field('token')}
          />
        )}
        <Button type="submit" loading={form.isBusy}>
          Go on
        </Button>
      </Stack>
    </form>
  )
}
