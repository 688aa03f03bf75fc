import { Group } from '@mantine/core'
import { useState } from 'react'
import { useOrganizationDenial } from '../../api/me'
import { Confirm } from '../../ui/Confirm'
import { GuardedButton } from '../../ui/Guarded'
import { done } from '../../ui/notify'

type Props = { name: string; isEnforced: boolean; onRemove: () => Promise<void> }

/** Forgets what a domain knows of its provider. */
export function RemoveSetUp({ name, isEnforced, onRemove }: Props) {
  const denial = useOrganizationDenial('admin')
  const [isAsking, setAsking] = useState(false)
  return (
    <Group>
      <GuardedButton
        variant="default"
        denial={denial ?? (isEnforced ? `${name} is demanded of everybody: lift that first.` : null)}
        onClick={() => setAsking(true)}
      >
        Remove {name}
      </GuardedButton>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Remove ${name}?`}
        button={`Remove ${name}`}
        onConfirm={async () => {
          await onRemove()
          done(`${name} was removed.`)
        }}
      >
        Nobody can sign in through it any more. Its settings have to be entered anew.
      </Confirm>
    </Group>
  )
}
