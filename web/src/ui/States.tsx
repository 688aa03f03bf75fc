// What a list or page shows when it has nothing to show: loading, empty, failed.
import { Button, Skeleton, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect, useEffectEvent, type ReactNode } from 'react'
import { needsSecondFactor, toFailure } from '../api/failure'
import { ask, mayAsk } from '../api/prompts'
import classes from './States.module.css'
import { Copyable } from './Values'

const RETRY_MS = 5_000

/** Skeletons of the final shape: so many rows of a table, or one block. */
export function Loading({ rows = 8, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className={classes.loading}>
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={14} width={`${88 - ((index * 17) % 40)}%`} className={classes.bar} />
      ))}
    </div>
  )
}

/** What would be here, why one wants it, and the one button that makes the first. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <Stack className={classes.empty} gap="sm" align="flex-start">
      <Title order={2}>{title}</Title>
      {children !== undefined && <Text c="dimmed">{children}</Text>}
      {action}
    </Stack>
  )
}

/** What failed, the request id, try again. What passes by itself is tried again without a click. */
export function Failed({ error, what, onRetry }: { error: unknown; what: string; onRetry?: () => void }) {
  const failure = toFailure(error)
  const retry = useEffectEvent(() => onRetry?.())
  useEffect(() => {
    if (!failure.isPassing) return
    const timer = setInterval(retry, RETRY_MS)
    return () => clearInterval(timer)
  }, [failure.isPassing])
  const signIn = async () => {
    if (await ask('sign-in')) onRetry?.()
  }
  if (needsSecondFactor(error)) return <SecondFactorNeeded />
  return (
    <Stack className={classes.empty} gap="sm" align="flex-start" role="alert">
      <Title order={2}>{what}</Title>
      <Text>{failure.message}</Text>
      {failure.isPassing && <Text c="dimmed">Trying again every few seconds.</Text>}
      {failure.requestId !== null && (
        <Text c="dimmed" size="sm">
          Request <Copyable value={failure.requestId} />
        </Text>
      )}
      {failure.status === 401 && mayAsk() ? (
        <Button onClick={() => void signIn()}>Sign in</Button>
      ) : (
        onRetry && (
          <Button variant="default" onClick={onRetry}>
            Try again
          </Button>
        )
      )}
    </Stack>
  )
}

/** Trying again would be refused again until there is one. */
export function SecondFactorNeeded() {
  return (
    <Empty
      title="This organization asks everybody for a second factor."
      action={
        <Button
          renderRoot={(props) => (
            <Link
              {...props}
              to="/account/$tab"
              params={{ tab: 'sign-in' }}
              search={{ open: 'second-factor' }}
            />
          )}
        >
          Set up second factor
        </Button>
      }
    >
      Your account has none yet. Set one up with an authenticator app, and everything here opens.
    </Empty>
  )
}
