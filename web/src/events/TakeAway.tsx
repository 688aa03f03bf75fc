import { Button, Menu } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { countText } from '../ui/format'
import { Icon } from '../ui/Icon'
import { done, refused } from '../ui/notify'
import { useStillHere } from '../ui/still-here'
import type { EventsQuestion } from './queries'
import { eventsFile, eventsStatement, MOST_IN_FILE, save } from './take-away'

type Props = { question: EventsQuestion; columns: readonly string[] }

/** The events of the list as a file, or its question as SQL. */
export function TakeAway({ question, columns }: Props) {
  const [isBusy, setBusy] = useState(false)
  const navigate = useNavigate()
  const stillHere = useStillHere()
  const busily = async (work: () => Promise<unknown>) => {
    setBusy(true)
    await work().catch(refused)
    setBusy(false)
  }
  const download = (chosen: readonly string[] | null) =>
    busily(async () => {
      const file = await eventsFile(question, chosen)
      save(file, `events-${new Date().toISOString().slice(0, 10)}.csv`)
      done('The events are downloaded.')
    })
  const openAsSql = () =>
    busily(async () => {
      const isHere = stillHere()
      const q = await eventsStatement(question, columns)
      const { projectId } = question
      if (isHere())
        await navigate({ to: '/project/$projectId/sql', params: { projectId }, search: { q } as object })
    })
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" loading={isBusy} leftSection={<Icon name="download" size={14} />}>
            Download
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>CSV, the newest {countText(MOST_IN_FILE)} at most</Menu.Label>
          <Menu.Item onClick={() => void download(columns)}>Download chosen columns</Menu.Item>
          <Menu.Item onClick={() => void download(null)}>Download all properties</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Button
        variant="default"
        leftSection={<Icon name="sql" size={14} />}
        onClick={() => void openAsSql()}
        disabled={isBusy}
      >
        Open as SQL
      </Button>
    </>
  )
}
