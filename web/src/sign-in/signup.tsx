// A new account: with an organization of its own, or by an invite.
import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect } from 'react'
import { answer, openApi } from '../api/client'
import { Failure, toFailure } from '../api/failure'
import { meQuery } from '../api/me'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Loading } from '../ui/States'
import { Username } from '../ui/Username'
import { Card, CardLink } from './Card'
import { nextOf } from './next'

const invitePage = getRouteApi('/signup/$inviteId')

export function SignupPage() {
  const form = useForm({
    initial: { first_name: '', email: '', organization_name: '', password: '' },
    secrets: ['password'],
    draft: 'signup',
    async submit({ organization_name, ...account }) {
      const body = { ...account, ...(organization_name ? { organization_name } : {}) }
      const { redirect_url } = await answer(openApi.POST('/api/signup/', { body }))
      location.assign(nextOf(redirect_url))
    },
  })
  return (
    <Card title="Make an account" links={<CardLink to="/login">I have one: sign in</CardLink>}>
      <form ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <FormProblem>{form.problem}</FormProblem>
          <TextInput
            label="First name"
            autoComplete="given-name"
            required
            autoFocus
            {...form.field('first_name')}
          />
          <TextInput label="E-mail" type="email" autoComplete="username" required {...form.field('email')} />
          <TextInput
            label="Organization (optional)"
            autoComplete="organization"
            {...form.field('organization_name')}
          />
          <PasswordInput label="Password" autoComplete="new-password" required {...form.field('password')} />
          <Button type="submit" loading={form.isBusy}>
            Make the account
          </Button>
        </Stack>
      </form>
    </Card>
  )
}

export function InvitePage() {
  const { inviteId: invite_id } = invitePage.useParams()
  const me = useQuery(meQuery)
  const invite = useQuery({
    queryKey: ['invite', invite_id],
    retry: false,
    queryFn: () => answer(openApi.GET('/api/signup/{invite_id}/', { params: { path: { invite_id } } })),
  })
  // Somebody with an account signs in first; the API says where.
  const signInFirst =
    invite.error instanceof Failure && invite.error.code === 'account_exists' ? invite.error.message : null
  useEffect(() => {
    if (signInFirst !== null) location.replace(nextOf(signInFirst))
  }, [signInFirst])

  if (invite.isPending || me.isPending || signInFirst !== null)
    return (
      <Card title="Your invite">
        <Loading rows={3} />
      </Card>
    )
  if (invite.isError)
    return (
      <Card title="This invite cannot be accepted" links={<CardLink to="/login">Sign in</CardLink>}>
        <FormProblem>{toFailure(invite.error).message}</FormProblem>
      </Card>
    )
  return (
    <Join inviteId={invite_id} invite={invite.data} isSignedIn={me.data !== null && me.data !== undefined} />
  )
}

type JoinProps = {
  inviteId: string
  invite: { target_email: string; organization_name: string; first_name: string }
  isSignedIn: boolean
}

function Join({ inviteId: invite_id, invite, isSignedIn }: JoinProps) {
  const form = useForm({
    initial: { first_name: invite.first_name, password: '' },
    async submit(account) {
      const { redirect_url } = await answer(
        openApi.POST('/api/signup/{invite_id}/', {
          params: { path: { invite_id } },
          body: isSignedIn ? {} : account,
        }),
      )
      location.assign(nextOf(redirect_url))
    },
  })
  return (
    <Card title={`Join ${invite.organization_name}`}>
      <form ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <Username value={invite.target_email} />
          <Text>As {invite.target_email}.</Text>
          <FormProblem>{form.problem}</FormProblem>
          {!isSignedIn && (
            <>
              <TextInput
                label="First name"
                autoComplete="given-name"
                required
                {...form.field('first_name')}
              />
              <PasswordInput
                label="Choose a password"
                autoComplete="new-password"
                required
                autoFocus
                {...form.field('password')}
              />
            </>
          )}
          <Button type="submit" loading={form.isBusy}>
            Join
          </Button>
        </Stack>
      </form>
    </Card>
  )
}
