// Questions that requests wait for (api/prompts.ts): sign in again, or confirm who you are. The page below stays as it
// is, with everything that was typed.
import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { answer, openApi } from '../api/client'
import { Failure } from '../api/failure'
import { meQuery, useMe } from '../api/me'
import { currentPrompt, onPrompt } from '../api/prompts'
import { signInAddress } from '../sign-in/ways'
import { Dialog } from '../ui/Dialog'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Loading } from '../ui/States'
import { Username } from '../ui/Username'

export function Prompts() {
  const open = useSyncExternalStore(onPrompt, currentPrompt)
  const isSignIn = open?.prompt === 'sign-in'
  return (
    <Dialog
      opened={open !== null}
      onClose={() => open?.settle(false)}
      title={isSignIn ? 'You were signed out' : 'Confirm that it is you'}
    >
      {open !== null && <Question isSignIn={isSignIn} onDone={() => open.settle(true)} />}
    </Dialog>
  )
}

/** Whoever has no password, or may not use it by now, shows who they are on the sign-in page, through their provider. */
function Question({ isSignIn, onDone }: { isSignIn: boolean; onDone: () => void }) {
  const { email, has_password } = useMe()
  const rule = useQuery({
    queryKey: ['precheck', email],
    staleTime: 0,
    queryFn: ({ signal }) => answer(openApi.POST('/api/login/precheck/', { body: { email }, signal })),
  })
  // Without this the cross of the dialog has the focus, and a password typed ahead ends with Enter on it.
  if (rule.isPending)
    return (
      <div tabIndex={-1} data-autofocus>
        <Loading rows={3} />
      </div>
    )
  const isByPassword = has_password && (rule.data?.sso_enforcement ?? null) === null
  if (!isByPassword) return <ThroughProvider email={email} isSignIn={isSignIn} />
  return isSignIn ? <SignInAgain onDone={onDone} /> : <ConfirmAgain onDone={onDone} />
}

/** What is asked comes after the dialog, which looks for `data-autofocus` only once. React sees to fields. */
const focus = (link: HTMLAnchorElement | null) => link?.focus()

function ThroughProvider({ email, isSignIn }: { email: string; isSignIn: boolean }) {
  const { pathname, search, hash } = location
  return (
    <Stack gap="md">
      <Text>
        {isSignIn
          ? `The session of ${email} has ended: it signs in through an identity provider. You come back to this page.`
          : `This change needs a recent sign-in of ${email}, through its identity provider. You come back to this page.`}
      </Text>
      <Button
        component="a"
        href={signInAddress(email, `${pathname}${search}${hash}`)}
        data-autofocus
        ref={focus}
      >
        Go to sign-in
      </Button>
    </Stack>
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
      // Parts of the page that were refused before, when somebody had closed this dialog.
      void queries.invalidateQueries({ predicate: ({ state }) => state.status === 'error' })
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
            autoFocus
            required
            {...form.field('token')}
          />
        ) : (
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            data-autofocus
            autoFocus
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
          autoFocus
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
