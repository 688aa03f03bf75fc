// The address first, then what its domain uses, then a second factor where there is one.
import { Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, openApi } from '../api/client'
import { Failure } from '../api/failure'
import { preflightQuery } from '../api/preflight'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Card, CardButton, CardLink } from './Card'
import { CodeForm } from './CodeForm'
import { OwnerByMail } from './OwnerByMail'
import { providerName, socialWaysOf, startOf, waysOf } from './ways'

type Step =
  | { at: 'email' | 'code' | 'by-mail' }
  /** `ways` are those through a provider. */
  | { at: 'password' | 'provider'; ways: readonly string[] }

export function SignIn({ email: address, next }: { email: string; next: string }) {
  const [step, setStep] = useState<Step>({ at: 'email' })
  const form = useForm({
    initial: { email: address, password: '' },
    secrets: ['password'],
    // Whoever is sent here with an address has typed nothing yet.
    draft: address === '' ? 'login' : undefined,
    async submit({ email, password }) {
      if (step.at === 'email') {
        const rule = await answer(openApi.POST('/api/login/precheck/', { body: { email } }))
        return setStep({ at: rule.sso_enforcement === null ? 'password' : 'provider', ways: waysOf(rule) })
      }
      try {
        await answer(openApi.POST('/api/login/', { body: { email, password } }))
        location.assign(next)
      } catch (error) {
        if (!(error instanceof Failure && error.code === '2fa_required')) throw error
        setStep({ at: 'code' })
      }
    },
  })
  const { email } = form.values
  const mayMakeAccount = useQuery(preflightQuery).data?.can_create_org ?? false
  const restart = () => setStep({ at: 'email' })

  if (step.at === 'code') return <CodeForm next={next} />
  if (step.at === 'by-mail') return <OwnerByMail email={email} onBack={restart} />
  if (step.at === 'provider')
    return (
      <Card
        title="Sign in with your organization"
        text={`${email} signs in through the identity provider of its organization. Passwords are off for it.`}
        links={
          <>
            <CardButton onClick={restart}>Use another address</CardButton>
            <CardButton onClick={() => setStep({ at: 'by-mail' })}>Owner: sign in by mail</CardButton>
          </>
        }
      >
        <Providers ways={step.ways} email={email} next={next} isMain />
      </Card>
    )
  return (
    <Card
      title="Sign in"
      links={
        <>
          <CardLink to="/reset">Forgotten password</CardLink>
          {mayMakeAccount && <CardLink to="/signup">Make an account</CardLink>}
        </>
      }
    >
      {/* Made anew with the password: browsers tell what a form is for when it appears. */}
      <form key={step.at} ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <FormProblem>{form.problem}</FormProblem>
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            autoFocus={step.at === 'email'}
            {...form.field('email')}
            onChange={(event) => {
              form.set('email', event.currentTarget.value)
              restart()
            }}
          />
          {step.at === 'password' && (
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              autoFocus
              {...form.field('password')}
            />
          )}
          <Button type="submit" loading={form.isBusy}>
            {step.at === 'email' ? 'Continue' : 'Sign in'}
          </Button>
        </Stack>
      </form>
      <OtherWays ways={step.at === 'password' ? step.ways : []} email={email} next={next} />
    </Card>
  )
}

type WaysProps = { ways: readonly string[]; email: string; next: string }

/** Those of the address's domain, and those that the server offers to everybody. */
function OtherWays({ ways, ...where }: WaysProps) {
  const preflight = useQuery(preflightQuery).data
  const offered = [...ways, ...(preflight ? socialWaysOf(preflight) : [])]
  if (offered.length === 0) return null
  return (
    <>
      <Divider label="or" />
      <Providers ways={offered} {...where} />
    </>
  )
}

/** React does it for fields and buttons alone. */
const focus = (link: HTMLAnchorElement | null) => link?.focus()

function Providers({ ways, email, next, isMain = false }: WaysProps & { isMain?: boolean }) {
  return (
    <Stack gap="sm">
      {ways.map((way) => (
        <Button
          key={way}
          component="a"
          href={startOf(way, email, next)}
          variant={isMain ? 'filled' : 'default'}
          ref={isMain ? focus : undefined}
        >
          Sign in with {providerName(way)}
        </Button>
      ))}
    </Stack>
  )
}
