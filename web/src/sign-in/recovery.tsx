// What mailed links open: a new password, a verified address, an account taken back.
import { Button, Checkbox, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { answer, openApi } from '../api/client'
import { Failure, failureOf, toFailure } from '../api/failure'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Loading } from '../ui/States'
import { Username } from '../ui/Username'
import { Card, CardLink } from './Card'
import { CodeForm } from './CodeForm'
import { nextOf } from './next'

const tokenPage = getRouteApi('/login/token')
const newPasswordPage = getRouteApi('/reset/$uuid/$token')
const verifyPage = getRouteApi('/verify_email/$uuid/$token')
const ownerPage = getRouteApi('/login/recovery/$uuid/$token')
const undoPage = getRouteApi('/undo_email_change/$uuid/$token')

export function SecondFactorPage() {
  return <CodeForm next={nextOf(tokenPage.useSearch().next)} />
}

export function ResetPage() {
  const [isSent, setSent] = useState(false)
  const form = useForm({
    initial: { email: '' },
    async submit({ email }) {
      await answer(openApi.POST('/api/reset/', { body: { email } }))
      setSent(true)
    },
  })
  if (isSent)
    return (
      <Card
        title="Check your mail"
        text="If there is an account with this address, a link is on its way to it."
      />
    )
  return (
    <Card title="Reset your password" links={<CardLink to="/login">Sign in</CardLink>}>
      <form ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <FormProblem>{form.problem}</FormProblem>
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.field('email')}
          />
          <Button type="submit" loading={form.isBusy}>
            Send me a link
          </Button>
        </Stack>
      </form>
    </Card>
  )
}

export function NewPasswordPage() {
  const { uuid: user_uuid, token } = newPasswordPage.useParams()
  const [keysLeft, setKeysLeft] = useState<string | null>(null)
  const check = useQuery({
    queryKey: ['reset', user_uuid, token],
    retry: false,
    queryFn: () =>
      answer(
        openApi.GET('/api/reset/{user_uuid}/', { params: { path: { user_uuid }, query: { token } } }),
      ).then(() => true),
  })
  const form = useForm({
    initial: { password: '', delete_personal_api_keys: false },
    async submit({ password, delete_personal_api_keys }) {
      const { response, error } = await openApi.POST('/api/reset/{user_uuid}/', {
        params: { path: { user_uuid } },
        body: { token, password, delete_personal_api_keys },
      })
      if (error) throw await failureOf(new Response(JSON.stringify(error), response))
      setKeysLeft(response.headers.get('x-active-personal-api-keys') ?? '0')
    },
  })
  if (check.isPending)
    return (
      <Card title="Set a new password">
        <Loading rows={3} />
      </Card>
    )
  if (check.isError) return <DeadLink error={check.error} />
  if (keysLeft !== null)
    return (
      <Card
        title="Done"
        text={`Your new password is set.${keysLeft === '0' ? '' : ` Personal API keys that still work: ${keysLeft}.`}`}
        links={<CardLink to="/login">Sign in</CardLink>}
      />
    )
  return (
    <Card title="Set a new password">
      <form ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <FormProblem>{form.problem}</FormProblem>
          <Username value="" />
          <PasswordInput
            label="New password"
            autoComplete="new-password"
            required
            autoFocus
            {...form.field('password')}
          />
          <Checkbox
            label="Also delete my personal API keys: scripts that use them stop working"
            checked={form.values.delete_personal_api_keys}
            onChange={(event) => form.set('delete_personal_api_keys', event.currentTarget.checked)}
          />
          <Button type="submit" loading={form.isBusy}>
            Set password
          </Button>
        </Stack>
      </form>
    </Card>
  )
}

export function LookIntoMailPage() {
  return (
    <Card
      title="Check your mail"
      text="We have sent you a link. Follow it to verify your address."
      links={<CardLink to="/login">Sign in</CardLink>}
    />
  )
}

export function VerifyPage() {
  const { uuid, token } = verifyPage.useParams()
  return (
    <OneButton
      title="Verify your address"
      button="This is my address"
      act={() =>
        answer(
          openApi.POST('/api/users/{uuid}/verify_email/', { params: { path: { uuid } }, body: { token } }),
        )
      }
      after={
        <Card
          title="Thank you"
          text="Your address is verified."
          links={<CardLink to="/">Continue</CardLink>}
        />
      }
    />
  )
}

export function UndoPage() {
  const { uuid, token } = undoPage.useParams()
  return (
    <OneButton
      title="Take your account back"
      text="The account returns to this address. Its password, sessions and personal API keys end."
      button="Take it back"
      act={() =>
        answer(
          openApi.POST('/api/users/{uuid}/undo_email_change/', {
            params: { path: { uuid } },
            body: { token },
          }),
        )
      }
      after={
        <Card
          title="The account is yours again"
          text="Set a new password with the link we have just sent to this address."
        />
      }
    />
  )
}

export function OwnerRecoveryPage() {
  const { uuid: user_uuid, token } = ownerPage.useParams()
  const [needsCode, setNeedsCode] = useState(false)
  const comeIn = async () => {
    try {
      const params = { path: { user_uuid } }
      await answer(openApi.POST('/api/login/recovery/{user_uuid}/', { params, body: { token } }))
      location.assign('/')
    } catch (error) {
      if (!(error instanceof Failure && error.code === '2fa_required')) throw error
      setNeedsCode(true)
    }
  }
  if (needsCode) return <CodeForm next="/" />
  return (
    <OneButton
      title="Sign in without your identity provider"
      text="You come in for two hours, to put right what is wrong. Every owner of the organization is told."
      button="Sign in"
      act={comeIn}
      after={<Card title="You are signed in" links={<CardLink to="/">Continue</CardLink>} />}
    />
  )
}

type OneButtonProps = {
  title: string
  text?: string
  button: string
  act: () => Promise<unknown>
  after: ReactNode
}

/** A button and not the visit itself: mail scanners follow links, people press buttons. */
function OneButton({ title, text, button, act, after }: OneButtonProps) {
  const [outcome, setOutcome] = useState<'open' | 'done' | Failure>('open')
  const [isBusy, setBusy] = useState(false)
  if (outcome === 'done') return after
  if (outcome instanceof Failure && !outcome.isPassing) return <DeadLink error={outcome} />
  const press = async () => {
    setBusy(true)
    await act().then(
      () => setOutcome('done'),
      (error: unknown) => setOutcome(toFailure(error)),
    )
    setBusy(false)
  }
  return (
    <Card title={title} text={text}>
      <FormProblem>{outcome instanceof Failure ? outcome.message : null}</FormProblem>
      <Button onClick={() => void press()} loading={isBusy}>
        {button}
      </Button>
    </Card>
  )
}

function DeadLink({ error }: { error: unknown }) {
  return (
    <Card title="This link does not work" links={<CardLink to="/login">Sign in</CardLink>}>
      <FormProblem>{toFailure(error).message}</FormProblem>
    </Card>
  )
}
