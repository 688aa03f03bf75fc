import { Button, Stack, TextInput } from '@mantine/core'
import { answer, openApi } from '../api/client'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Card, CardLink } from './Card'

/** The second factor, after the password was right. */
export function CodeForm({ next }: { next: string }) {
  const form = useForm({
    initial: { token: '' },
    async submit({ token }) {
      await answer(openApi.POST('/api/login/token/', { body: { token } }))
      location.assign(next)
    },
  })
  return (
    <Card
      title="Second factor"
      text="Enter the code of your authenticator app, or one of your backup codes."
      links={
        <CardLink to="/login" reloadDocument>
          Start again
        </CardLink>
      }
    >
      <form ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <FormProblem>{form.problem}</FormProblem>
          <TextInput label="Code" autoComplete="one-time-code" required autoFocus {...form.field('token')} />
          <Button type="submit" loading={form.isBusy}>
            Sign in
          </Button>
        </Stack>
      </form>
    </Card>
  )
}
