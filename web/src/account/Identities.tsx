// The identity providers somebody can sign in with, and stopping to.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, type Schema } from '../api/client'
import { useMe } from '../api/me'
import { usePages } from '../api/pages'
import { providerName } from '../sign-in/ways'
import { Confirm } from '../ui/Confirm'
import { GuardedButton } from '../ui/Guarded'
import { done } from '../ui/notify'
import { Failed, Loading } from '../ui/States'
import { Time } from '../ui/Values'
import classes from './Identities.module.css'
import { ME } from './page'

type Identity = Schema<'Identity'>

const LIST = ['identities'] as const

export function Identities() {
  const { has_password } = useMe()
  const queries = useQueryClient()
  const [removing, setRemoving] = useState<Identity | null>(null)
  const pages = usePages(LIST, (page, signal) =>
    answer(api.GET('/api/users/{uuid}/identities/', { params: { ...ME, query: page }, signal })),
  )
  if (pages.rows === undefined)
    return pages.error === null ? (
      <Loading rows={2} />
    ) : (
      <Failed error={pages.error} what="The providers could not be shown." onRetry={pages.retry} />
    )
  if (pages.count === 0) return <Text c="dimmed">You have not signed in through a provider yet.</Text>
  const denial =
    !has_password && pages.count === 1
      ? 'This is the only way into your account: set a password first.'
      : null
  return (
    <Stack gap="md">
      <ul className={classes.list}>
        {pages.rows.map((identity) => (
          <li key={identity.id} className={classes.identity}>
            <div className={classes.about}>
              <div>
                <b>{providerName(identity.provider)}</b> {identity.email}
              </div>
              <Text size="sm" c="dimmed" className={classes.issuer}>
                {identity.issuer}, last used <Time value={identity.last_used_at} />
              </Text>
            </div>
            <GuardedButton
              variant="default"
              denial={denial}
              aria-label={`Remove ${providerName(identity.provider)} ${identity.email ?? identity.issuer}`}
              onClick={() => setRemoving(identity)}
            >
              Remove
            </GuardedButton>
          </li>
        ))}
      </ul>
      {denial !== null && (
        <Text size="sm" c="dimmed">
          {denial}
        </Text>
      )}
      {pages.rows.length < pages.count && (
        <Group>
          <Button variant="default" loading={pages.isLoadingMore} onClick={pages.more}>
            Show more
          </Button>
        </Group>
      )}
      <Confirm
        isOpen={removing !== null}
        onClose={() => setRemoving(null)}
        title="Stop signing in with this provider?"
        button="Remove provider"
        onConfirm={async () => {
          const path = { uuid: '@me', id: removing!.id }
          await answer(api.DELETE('/api/users/{uuid}/identities/{id}/', { params: { path } }))
          done(`${providerName(removing!.provider)} no longer opens your account.`)
          await queries.invalidateQueries({ queryKey: LIST })
        }}
      >
        {removing && providerName(removing.provider)} no longer opens your account. If your organization
        demands it, signing in through it once more links it again.
      </Confirm>
    </Stack>
  )
}
