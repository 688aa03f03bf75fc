// A provider vouches for the address of an account that is here already: its password shows once whose it is.
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { answer, openApi } from '../api/client'
import { toFailure } from '../api/failure'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Username } from '../ui/Username'
import { Card, CardLink } from './Card'
import { nextOf } from './next'
import { providerName } from './ways'

export function LinkForm({ link, email, provider }: { link: string; email: string; provider: string }) {
  const [needsCode, setNeedsCode] = useState(false)
  const form = useForm({
    initial: { password: '', token: '' },
    async submit({ password, token }) {
      const body = { link, password, ...(needsCode ? { token } : {}) }
      try {
        const { next } = await answer(openApi.POST('/api/login/link/', { body }))
        location.assign(nextOf(next))
      } catch (error) {
        const { code, attr } = toFailure(error)
        if (needsCode || attr !== 'token' || code !== 'required') throw error
        setNeedsCode(true)
      }
    },
  })
  return (
    <Card
      title="Is this your account?"
      text={
        <>
          There is an account for <b>{email}</b> already. Enter its password once: from then on{' '}
          {providerName(provider)} signs you in.
        </>
      }
      links={
        <>
          <CardLink to="/reset">Forgotten password</CardLink>
          <CardLink to="/login" search={{}}>
            Start again
          </CardLink>
        </>
      }
    >
      <form ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <Username value={email} />
          <FormProblem>{form.problem}</FormProblem>
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            autoFocus
            {...form.field('password')}
          />
          {needsCode && (
            <TextInput
              label="Code"
              description="Of your authenticator app, or one of your backup codes."
              autoComplete="one-time-code"
              required
              autoFocus
              {...form.field('token')}
            />
          )}
          <Button type="submit" loading={form.isBusy}>
            Link and sign in
          </Button>
        </Stack>
      </form>
    </Card>
  )
}
