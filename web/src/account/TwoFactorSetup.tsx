// Setting up an authenticator: its picture and secret, then a first code.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { encode } from 'uqr'
import { answer, api } from '../api/client'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { Failed, Loading } from '../ui/States'
import { Copyable } from '../ui/Values'
import { ME } from './page'
import { qrPath } from './qr'
import classes from './TwoFactorSetup.module.css'

type Props = { onCancel: () => void; onDone: (backupCodes: readonly string[]) => Promise<void> }

export function TwoFactorSetup({ onCancel, onDone }: Props) {
  // Each question makes a new secret, so it is asked once and then forgotten.
  const setup = useQuery({
    queryKey: ['two-factor-setup'],
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) =>
      answer(api.GET('/api/users/{uuid}/two_factor_start_setup/', { params: ME, signal })),
  })
  const form = useForm({
    initial: { token: '' },
    async submit({ token }) {
      const { backup_codes } = await answer(
        api.POST('/api/users/{uuid}/two_factor_validate/', { params: ME, body: { token } }),
      )
      await onDone(backup_codes)
    },
  })
  if (setup.isPending) return <Loading rows={5} />
  if (setup.isError)
    return <Failed error={setup.error} what="No secret could be made." onRetry={() => void setup.refetch()} />
  const { secret, otpauth_url } = setup.data
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="lg">
        <div className={classes.scan}>
          <QrCode text={otpauth_url} />
          <Stack gap="sm">
            <Text>Scan this with your authenticator app.</Text>
            <Text size="sm" c="dimmed">
              Or type the secret in:
            </Text>
            <Copyable value={secret} shown={secret.replace(/(.{4})(?=.)/g, '$1 ')} />
          </Stack>
        </div>
        <FormProblem>{form.problem}</FormProblem>
        <TextInput
          label="First code"
          description="Six digits that the app shows now."
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          autoFocus
          {...form.field('token')}
        />
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy}>
            Switch on
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { border: 2 })
  return (
    <svg
      className={classes.code}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="QR code of the secret"
      shapeRendering="crispEdges"
    >
      <path d={qrPath(data)} />
    </svg>
  )
}
