import { Text } from '@mantine/core'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { useProjectDenial } from '../api/me'
import { countText } from '../ui/format'
import { GuardedButton } from '../ui/Guarded'
import { Icon } from '../ui/Icon'
import { done, refused } from '../ui/notify'
import classes from './GetStartedPage.module.css'

/** For those who want to look before they connect anything. */
export function SampleData({ projectId }: { projectId: string }) {
  const denial = useProjectDenial('admin')
  const [isBusy, setBusy] = useState(false)
  const fill = async () => {
    setBusy(true)
    try {
      const params = { path: { project_id: projectId } }
      const { events } = await answer(api.POST('/api/projects/{project_id}/sample_data/', { params }))
      done(`${countText(events)} sample events are on their way.`)
    } catch (error) {
      setBusy(false)
      refused(error)
    }
  }
  return (
    <div className={classes.sample}>
      <Text size="sm" c="dimmed">
        Nothing to connect yet? Look around with the events of a made-up web shop. Only a project without
        events can be filled.
      </Text>
      <GuardedButton
        denial={denial}
        variant="default"
        loading={isBusy}
        leftSection={<Icon name="bucket" size={14} />}
        onClick={() => void fill()}
      >
        Fill it with sample data
      </GuardedButton>
    </div>
  )
}
