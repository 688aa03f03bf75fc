// A key beside its list: made, changed, rolled, deleted. Its value is shown once, when it is made or rolled.
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from '../ui/Confirm'
import { Facts } from '../ui/Facts'
import { done } from '../ui/notify'
import { ShownOnce } from '../ui/ShownOnce'
import { Status } from '../ui/Status'
import { Time } from '../ui/Values'
import { isOver } from './expiry'
import { KeyForm, type KeyFields } from './KeyForm'

export type Key = {
  id: string
  label: string
  value: string | null
  mask_value: string
  scopes: string[]
  scoped_organizations?: string[]
  scoped_teams: number[]
  created_at: string
  last_used_at: string | null
  last_rolled_at: string | null
  expires_at: string | null
}

/** What the API does with keys of one kind. */
export type KeyCalls = {
  kind: 'personal' | 'service'
  create: (fields: KeyFields & { level: number }) => Promise<Key>
  update: (id: string, fields: KeyFields) => Promise<unknown>
  roll: (id: string) => Promise<Key>
  remove: (id: string) => Promise<unknown>
}

export function KeyState({ keyRow: { expires_at } }: { keyRow: Key }) {
  if (expires_at === null) return <span className="quiet">never</span>
  return isOver(expires_at) ? <Status kind="failed">expired</Status> : <Time value={expires_at} style="day" />
}

export function NewKey({ calls, onClose }: { calls: KeyCalls; onClose: () => void }) {
  const [made, setMade] = useState<Key | null>(null)
  if (made) return <Value made={made} onClose={onClose} />
  return (
    <KeyForm
      kind={calls.kind}
      draft={`new ${calls.kind} key`}
      button="Create key"
      onCancel={onClose}
      onSubmit={async (fields) => {
        setMade(await calls.create(fields))
        done(`Key ${fields.label} was made.`)
      }}
    />
  )
}

export function KeyDetails({
  keyRow,
  calls,
  onClose,
}: {
  keyRow: Key
  calls: KeyCalls
  onClose: () => void
}) {
  const [rolled, setRolled] = useState<Key | null>(null)
  const [asking, setAsking] = useState<'roll' | 'delete' | null>(null)
  const { id, label } = keyRow
  const stored = { ...keyRow, scoped_organizations: keyRow.scoped_organizations ?? [] }
  if (rolled) return <Value made={rolled} onClose={onClose} />
  return (
    <Stack gap="xl">
      <Facts
        facts={[
          [
            'Value',
            <span key="value">
              <span className="mono">{keyRow.mask_value}</span>{' '}
              <span className="quiet">stored as a hash</span>
            </span>,
          ],
          ['Last used', <Time key="used" value={keyRow.last_used_at} />],
          ['Expires', <KeyState key="expires" keyRow={keyRow} />],
          ['Made', <Time key="made" value={keyRow.created_at} />],
          ...(keyRow.last_rolled_at === null
            ? []
            : [['Rolled', <Time key="rolled" value={keyRow.last_rolled_at} />] as const]),
        ]}
      />
      <Group gap="sm">
        <Button variant="default" onClick={() => setAsking('roll')}>
          Replace value
        </Button>
        <Button variant="default" onClick={() => setAsking('delete')}>
          Delete key
        </Button>
      </Group>
      <KeyForm
        kind={calls.kind}
        stored={stored}
        draft={`key ${id}`}
        button="Save changes"
        onCancel={onClose}
        onSubmit={async ({ level: _level, ...fields }) => {
          await calls.update(id, fields)
          done(`Key ${fields.label} was changed.`)
          onClose()
        }}
      />
      <Confirm
        isOpen={asking === 'roll'}
        onClose={() => setAsking(null)}
        title={`Replace the value of ${label}?`}
        button="Replace value"
        onConfirm={async () => {
          setRolled(await calls.roll(id))
          done(`Key ${label} has a new value.`)
        }}
      >
        The value in use stops working at once. Programs that have it need the new one.
      </Confirm>
      <Confirm
        isOpen={asking === 'delete'}
        onClose={() => setAsking(null)}
        title={`Delete ${label}?`}
        button="Delete key"
        onConfirm={async () => {
          await calls.remove(id)
          done(`Key ${label} was deleted.`)
          onClose()
        }}
      >
        Programs that use it are refused from now on. This cannot be undone.
      </Confirm>
    </Stack>
  )
}

function Value({ made, onClose }: { made: Key; onClose: () => void }) {
  return (
    <Stack gap="lg">
      <ShownOnce value={made.value ?? ''} copy="Copy key">
        The value of <b>{made.label}</b> is shown once. Keep it where secrets are kept.
      </ShownOnce>
      <Group>
        <Button variant="default" onClick={onClose}>
          I have copied it
        </Button>
      </Group>
    </Stack>
  )
}
