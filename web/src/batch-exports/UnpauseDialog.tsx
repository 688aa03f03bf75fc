import { Radio, Stack } from '@mantine/core'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { Confirm } from '../ui/Confirm'
import { done } from '../ui/notify'
import { Time } from '../ui/Values'
import { useExportPath } from './addresses'
import { itemOf, type Export } from './queries'

type Props = { data: Export; isOpen: boolean; onClose: () => void; onDone: () => Promise<unknown> }

/** Going on after a pause: with what was missed, or without. */
export function UnpauseDialog({ data, isOpen, onClose, onDone }: Props) {
  const path = useExportPath()
  const [choice, setChoice] = useState('with')
  const unpause = async () => {
    const backfill = choice === 'with'
    await answer(
      api.POST('/api/projects/{project_id}/batch_exports/{id}/unpause/', {
        params: { path: itemOf(path) },
        body: { backfill },
      }),
    )
    await onDone()
    done(backfill ? `${data.name} goes on, and delivers what it missed.` : `${data.name} goes on.`)
  }
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={`Unpause ${data.name}`}
      button="Unpause export"
      isHarmless
      onConfirm={unpause}
    >
      <Radio.Group
        label={
          <>
            What about the events that arrived since the pause,{' '}
            <Time value={data.last_paused_at ?? data.created_at} />?
          </>
        }
        value={choice}
        onChange={setChoice}
      >
        <Stack gap="sm" mt="sm">
          <Radio
            value="with"
            label="Deliver them too"
            description="In the intervals that they belong to, beside the schedule."
          />
          <Radio
            value="without"
            label="Skip them"
            description="They count as skipped. A backfill can deliver them later."
          />
        </Stack>
      </Radio.Group>
    </Confirm>
  )
}
