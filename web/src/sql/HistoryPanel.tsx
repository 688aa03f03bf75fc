// Queries that were run in this browser.
import { Button, Group, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useMemo, useState } from 'react'
import { Confirm } from '../ui/Confirm'
import { Details } from '../ui/Details'
import { countText, durationText } from '../ui/format'
import { done } from '../ui/notify'
import { Empty } from '../ui/States'
import { Time } from '../ui/Values'
import { forget, readHistory, type Past } from './history'
import classes from './Sql.module.css'
import type { Sql } from './use-sql'

export function HistoryPanel({ sql }: { sql: Sql }) {
  return (
    <Details
      isOpen={sql.search.panel === 'history'}
      onClose={() => sql.show({ panel: undefined })}
      title="History"
    >
      <PastQueries sql={sql} />
    </Details>
  )
}

function PastQueries({ sql }: { sql: Sql }) {
  const [all, setAll] = useState(() => readHistory(sql.pastKey))
  const [wanted, setWanted] = useState('')
  const [isAsking, setAsking] = useState(false)
  const found = useMemo(
    () => all.filter(({ text }) => text.toLowerCase().includes(wanted.trim().toLowerCase())),
    [all, wanted],
  )
  if (all.length === 0)
    return (
      <Empty title="No queries yet">
        What you run is kept here, in this browser alone, so that you can come back to it.
      </Empty>
    )
  return (
    <Stack gap="md">
      <Group gap="sm" wrap="nowrap">
        <TextInput
          className={classes.find}
          aria-label="Find in the history"
          placeholder="Find in the history"
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
          data-autofocus
        />
        <Button variant="default" onClick={() => setAsking(true)}>
          Clear history
        </Button>
      </Group>
      {found.length === 0 && <Text c="dimmed">No query holds this text.</Text>}
      <ul className={classes.past}>
        {found.map((past) => (
          <li key={past.at + past.text}>
            <UnstyledButton className={classes.pastQuery} onClick={() => sql.runText(past.text)}>
              <span className={`mono ${classes.pastText}`}>{past.text}</span>
              <span className="quiet">
                <Time value={past.at} /> · {outcome(past)}
              </span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Clear the history"
        button="Clear history"
        onConfirm={async () => {
          forget(sql.pastKey)
          setAll([])
          done('The history of queries is cleared.')
        }}
      >
        {all.length === 1 ? 'The one query' : `All ${countText(all.length)} queries`} kept in this browser for
        this project will be forgotten.
      </Confirm>
    </Stack>
  )
}

const outcome = ({ rows, ms }: Past) =>
  rows === null ? 'refused' : `${countText(rows)} ${rows === 1 ? 'row' : 'rows'}, ${durationText(ms / 1000)}`
