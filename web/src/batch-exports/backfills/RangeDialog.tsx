// Asks for a backfill or a repair of a range of time, and says beforehand what it would deliver. The address says that it
// is open, and over which range.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../../api/client'
import { Failure, toFailure } from '../../api/failure'
import { Dialog } from '../../ui/Dialog'
import { useForm } from '../../ui/form'
import { GuardedButton } from '../../ui/Guarded'
import { FormProblem } from '../../ui/FormProblem'
import { countText } from '../../ui/format'
import { done } from '../../ui/notify'
import { Time, useZone } from '../../ui/Values'
import { exportRoute, useExportPath } from '../addresses'
import { estimateQuery, exportKey, itemOf, lastEndOf, type Export } from '../queries'
import { instantOf, localText } from '../zone'
import classes from './RangeDialog.module.css'

type Ask = 'backfill' | 'repair'
type Props = { data: Export }
const TYPING_MS = 400

export function RangeDialog({ data }: Props) {
  const { ask } = exportRoute.useSearch()
  const navigate = exportRoute.useNavigate()
  const close = () => void navigate({ search: (before) => ({ ...before, ask: undefined }) })
  const title = ask === 'repair' ? 'Deliver again what was delivered' : 'Deliver what is missing'
  return (
    <Dialog opened={ask !== undefined} onClose={close} title={title}>
      {ask !== undefined && <RangeForm key={ask} data={data} ask={ask} onClose={close} />}
    </Dialog>
  )
}

function RangeForm({ data, ask, onClose }: Props & { ask: Ask; onClose: () => void }) {
  const path = useExportPath()
  const queries = useQueryClient()
  const navigate = exportRoute.useNavigate()
  const { from, to } = exportRoute.useSearch()
  const projectZone = useZone() ?? 'UTC'
  // Days and weeks begin by the export's own clocks.
  const zone = data.interval === 'day' || data.interval === 'week' ? data.timezone : projectZone
  const local = (instant: string | undefined) => (instant === undefined ? '' : localText(instant, zone))
  const bodyOf = (values: { start_at: string; end_at: string }) => ({
    start_at: instantOf(values.start_at, zone),
    end_at: instantOf(values.end_at, zone),
  })

  const form = useForm({
    initial: { start_at: local(from), end_at: local(to ?? lastEndOf(data)) },
    async submit(values) {
      assertWhole(form.element.current)
      if (!isInOrder(bodyOf(values))) throw OUT_OF_ORDER
      await answer(
        api.POST(`/api/projects/{project_id}/batch_exports/{id}/${ask}/`, {
          params: { path: itemOf(path) },
          body: bodyOf(values),
        }),
      )
      await queries.invalidateQueries({ queryKey: exportKey(path) })
      done(ask === 'repair' ? 'The repair has started.' : 'The backfill has started.')
      await navigate({ params: (before) => ({ ...before, tab: 'backfills' }), search: {} })
    },
  })
  const [settled] = useDebouncedValue(form.values, TYPING_MS)
  const estimate = useQuery({ ...estimateQuery(path, bodyOf(settled)), enabled: isInOrder(bodyOf(settled)) })
  const refusal = !isInOrder(bodyOf(settled))
    ? OUT_OF_ORDER
    : estimate.isError
      ? toFailure(estimate.error)
      : null
  const errorAt = (name: 'start_at' | 'end_at') =>
    form.errors[name] ?? (refusal?.attr === name ? refusal.message : undefined)
  // Half a date is an empty field to the estimate: it says nothing of what was meant.
  const [isWhole, setWhole] = useState(true)
  const isNothing = isWhole && ask === 'backfill' && settled === form.values && estimate.data?.rows === 0

  return (
    <form
      ref={form.element}
      onSubmit={form.onSubmit}
      onBlur={() => setWhole(brokenIn(form.element.current) === undefined)}
      noValidate
    >
      <Stack gap="md">
        <Text c="dimmed">
          {ask === 'repair'
            ? 'What the export has delivered in these intervals goes out again, with the same rows, to the same names or keys.'
            : 'Events of this time that the export has not delivered go out now. What it has delivered is left alone, so nothing is doubled.'}
        </Text>
        <FormProblem>
          {form.problem ?? (refusal !== null && refusal.attr === null ? refusal.message : null)}
        </FormProblem>
        <TextInput
          type="datetime-local"
          label="From"
          description={`By the clocks of ${zone}. Empty: from the first event.`}
          {...form.field('start_at')}
          error={errorAt('start_at')}
          data-autofocus
        />
        <TextInput type="datetime-local" label="To" {...form.field('end_at')} error={errorAt('end_at')} />
        <div className={classes.estimate} role="status">
          {refusal === null && estimate.data ? (
            <EstimateText ask={ask} estimate={estimate.data} />
          ) : refusal === null ? (
            <span className="quiet">Counting the rows.</span>
          ) : null}
        </div>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <GuardedButton
            type="submit"
            loading={form.isBusy}
            denial={isNothing ? 'Nothing of this time is missing.' : null}
          >
            {ask === 'repair' ? 'Start repair' : 'Start backfill'}
          </GuardedButton>
        </Group>
      </Stack>
    </form>
  )
}

const OUT_OF_ORDER = new Failure(400, 'invalid_input', 'From must be before To.', 'start_at')

/** The open ends are in order with anything. */
const isInOrder = ({ start_at, end_at }: { start_at: string | null; end_at: string | null }): boolean =>
  start_at === null || end_at === null || Date.parse(start_at) < Date.parse(end_at)

/** A date without its time is nothing to the browser, and nothing would mean everything. */
function assertWhole(form: HTMLFormElement | null): void {
  const broken = brokenIn(form)
  if (broken) throw new Failure(400, 'invalid_input', 'Write the whole date, with its time.', broken.name)
}

const brokenIn = (form: HTMLFormElement | null): HTMLInputElement | undefined =>
  [...(form?.elements ?? [])].find(
    (field): field is HTMLInputElement => field instanceof HTMLInputElement && field.validity.badInput,
  )

type Estimate = {
  rows: number | null
  delivered_before: number | null
  runs: number
  first_event_at: string | null
  last_event_at: string | null
}

function EstimateText({
  ask,
  estimate: { rows, delivered_before, runs, first_event_at, last_event_at },
}: {
  ask: Ask
  estimate: Estimate
}) {
  const inRuns = `in ${countText(runs)} ${runs === 1 ? 'run' : 'runs'}`
  if (ask === 'repair')
    return (
      <span>
        {delivered_before === null
          ? 'All that was delivered goes out again'
          : `${countText(delivered_before)} rows go out again`}
        .
      </span>
    )
  if (rows === null) return <span>All of this time goes out {inRuns}.</span>
  return (
    <>
      <span>
        <b>{countText(rows)}</b> {rows === 1 ? 'row' : 'rows'} to deliver {inRuns};{' '}
        {countText(delivered_before ?? 0)} were delivered before.
      </span>
      {first_event_at !== null && last_event_at !== null && (
        <span className="quiet">
          Events from <Time value={first_event_at} /> to <Time value={last_event_at} />.
        </span>
      )}
    </>
  )
}
