// Signing in: the address first, then what its domain uses, then a second factor where there is one.
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, openApi } from '../api/client'
import { Failure } from '../api/failure'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Card, CardLink } from './Card'
import { CodeForm } from './CodeForm'
import { nextOf } from './next'

const route = getRouteApi('/login')

export function LoginPage() {
  const next = nextOf(route.useSearch().next)
  const [step, setStep] = useState<'email' | 'password' | 'code' | 'sso'>('email')
  const form = useForm({
    initial: { email: '', password: '' },
    secrets: ['password'],
    draft: 'login',
    async submit({ email, password }) {
      if (step === 'email') {
        const way = await answer(openApi.POST('/api/login/precheck/', { body: { email } }))
        return setStep(way.sso_enforcement === null ? 'password' : 'sso')
      }
      try {
        await answer(openApi.POST('/api/login/', { body: { email, password } }))
        location.assign(next)
      } catch (error) {
        if (!(error instanceof Failure && error.code === '2fa_required')) throw error
        setStep('code')
      }
    },
  })

  if (step === 'code') return <CodeForm next={next} />
  if (step === 'sso')
    return (
      <Card
        title="Sign in with your organization"
        text={`Passwords are off for ${form.values.email}: its domain demands single sign-on.`}
        links={
          <CardLink to="/login" onClick={() => setStep('email')}>
            Use another address
          </CardLink>
        }
      />
    )
  return (
    <Card title="Sign in" links={<CardLink to="/reset">Forgotten password</CardLink>}>
      {/* Made anew with the password: browsers tell what a form is for when it appears. */}
      <form key={step} ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <FormProblem>{form.problem}</FormProblem>
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            autoFocus={step === 'email'}
            {...form.field('email')}
            onChange={(event) => {
              form.set('email', event.currentTarget.value)
              setStep('email')
            }}
          />
          {step === 'password' && (
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              autoFocus
              {...form.field('password')}
            />
          )}
          <Button type="submit" loading={form.isBusy}>
            {step === 'email' ? 'Continue' : 'Sign in'}
          </Button>
        </Stack>
      </form>
    </Card>
  )
}
