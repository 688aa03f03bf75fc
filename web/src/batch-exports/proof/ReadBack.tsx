// What was read back from the destination, and when; reading it back now, with what it finds.
import { Button, Group, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answer, api, type Schema } from '../../api/client'
import { bytesText, countText } from '../../ui/format'
import { Icon } from '../../ui/Icon'
import { done, refused } from '../../ui/notify'
import { Status } from '../../ui/Status'
import { Time } from '../../ui/Values'
import { useExportPath } from '../addresses'
import { exportKey, pathOf, type IntervalAccount, type Verification } from '../queries'
import type { Range } from './lines'
import { Problems } from './Problems'
import { isVerifying, verificationQuery, verificationsQuery } from './queries'
import classes from './ReadBack.module.css'

type Props = {
  standing: Schema<'BatchExportLatestVerification'> | null
  range: Range | null
  accounts: readonly IntervalAccount[]
}

export function ReadBack({ standing, range, accounts }: Props) {
  const path = useExportPath()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const newest = useQuery(verificationsQuery(path)).data?.results[0]
  const live = newest && isVerifying(newest) ? newest : null
  const shownId = newest && newest.trigger === 'request' ? newest.id : (standing?.id ?? newest?.id)
  const shown = useQuery({
    ...verificationQuery(path, shownId ?? ''),
    enabled: shownId !== undefined && live === null,
  }).data

  useEffect(() => {
    if (live === null) void queries.invalidateQueries({ queryKey: exportKey(path) })
  }, [live === null])

  const verify = async () => {
    setAsking(true)
    try {
      const body = range === null ? {} : { start_at: range.from, end_at: range.to }
      await answer(
        api.POST('/api/projects/{project_id}/batch_exports/{batch_export_id}/verify/', {
          params: { path: pathOf(path) },
          body,
        }),
      )
      await queries.invalidateQueries({ queryKey: verificationsQuery(path).queryKey })
      done('The destination is being read back.')
    } catch (error) {
      refused(error)
    } finally {
      setAsking(false)
    }
  }

  return (
    <div className={classes.line}>
      <Group justify="space-between" gap="sm">
        <div role="status">
          {live ? <Progress live={live} /> : shown ? <Result result={shown} /> : <NotYet />}
        </div>
        <Button variant="default" loading={isAsking} disabled={live !== null} onClick={() => void verify()}>
          {range === null ? 'Verify now' : 'Verify this range'}
        </Button>
      </Group>
      {live === null && shown && <Problems result={shown} accounts={accounts} />}
    </div>
  )
}

function NotYet() {
  return (
    <Text size="sm" c="dimmed">
      Not read back yet. Verifying reads what was delivered and compares it with the events.
    </Text>
  )
}

function Progress({ live }: { live: Verification }) {
  return (
    <Status kind={live.status === 'Running' ? 'running' : 'waiting'}>
      {live.status === 'Waiting' ? 'Waiting to read back' : `Reading back: ${read(live)} so far`}
    </Status>
  )
}

function Result({ result }: { result: Verification }) {
  const { verdict, problems_count, finished_at, status } = result
  if (status === 'Failed') return <Status kind="failed">Reading back failed</Status>
  if (verdict === 'nothing_to_verify')
    return (
      <Text size="sm" c="dimmed">
        Nothing to read back yet.
      </Text>
    )
  const isFine = verdict === 'intact'
  return (
    <span className={classes.result} data-verdict={verdict}>
      <Icon name={isFine ? 'check' : 'warning'} size={14} />
      <span>
        {isPart(result) ? 'a part was read back' : 'read back'} <Time value={finished_at} />: {read(result)},{' '}
        <b>{countText(problems_count)}</b> {problems_count === 1 ? 'problem' : 'problems'}
        {verdict === 'unreachable' && ', some could not be reached'}
        {verdict === 'unclear' && ', but it cannot be told whether all is well'}
      </span>
    </span>
  )
}

const isPart = ({ run, start_at, end_at }: Verification) =>
  run !== null || start_at !== null || end_at !== null

/** Tables have no files. */
function read({ files, rows, bytes }: Verification): string {
  const inFiles =
    files === 0 ? '' : `${countText(files)} ${files === 1 ? 'file' : 'files'} (${bytesText(bytes)}), `
  return `${inFiles}${countText(rows)} ${rows === 1 ? 'row' : 'rows'}`
}
