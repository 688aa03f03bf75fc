// When it runs: interval, zone, hour, weekday, first and last day; with the next five runs spelled out.
import { Group, Input, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { Loading } from '../../ui/States'
import type { Export } from '../queries'
import { intervalText, WEEKDAY_CHOICES } from '../states'
import { useExportForm } from './ExportForm'
import classes from './Preview.module.css'

const INTERVALS = ['every 5 minutes', 'every 15 minutes', 'hour', 'day', 'week'] as const
const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}))
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export function SchedulePart() {
  const { form } = useExportForm()
  const { interval } = form.values
  const isDaily = interval === 'day' || interval === 'week'
  return (
    <Stack gap="md">
      <Select
        name="interval"
        label="How often"
        data={INTERVALS.map((value) => ({ value, label: intervalText(value) }))}
        value={interval}
        allowDeselect={false}
        error={form.errors.interval}
        onChange={(value) => form.set('interval', value as Export['interval'])}
      />
      {interval === 'week' && (
        <Input.Wrapper label="On" labelElement="div" error={form.errors.offset_day}>
          <div>
            <SegmentedControl
              aria-label="Day of the week"
              data={WEEKDAY_CHOICES.map(({ value, label }) => ({ value, label: label.slice(0, 2) }))}
              value={form.values.offset_day}
              onChange={(value) => form.set('offset_day', value)}
            />
          </div>
        </Input.Wrapper>
      )}
      {isDaily && (
        <Select
          label="At"
          data={HOURS}
          value={form.values.offset_hour}
          allowDeselect={false}
          error={form.errors.offset_hour}
          onChange={(value) => form.set('offset_hour', value ?? '0')}
        />
      )}
      <Select
        name="timezone"
        label="By the clocks of"
        description="Days and weeks begin by them, and the times below are told by them."
        data={ZONES}
        value={form.values.timezone}
        searchable
        limit={50}
        allowDeselect={false}
        error={form.errors.timezone}
        onChange={(value) => form.set('timezone', value ?? 'UTC')}
      />
      <Group gap="md" grow preventGrowOverflow={false}>
        <TextInput
          type="datetime-local"
          label="Not before"
          description="Empty: from now on."
          {...form.field('start_at')}
        />
        <TextInput
          type="datetime-local"
          label="Not after"
          description="Empty: without end."
          {...form.field('end_at')}
        />
      </Group>
      <PreviewRuns />
    </Stack>
  )
}

function PreviewRuns() {
  const { form, preview } = useExportForm()
  const { next_runs: runs, errors } = preview.data ?? {}
  return (
    <section aria-label="The next runs" className={classes.preview}>
      <div className={classes.title}>The next runs, by the clocks of {form.values.timezone}</div>
      {preview.isPending ? (
        <Loading rows={3} />
      ) : errors?.next_runs ? (
        <Text size="sm" c="var(--ls-failed)">
          {errors.next_runs.detail}
        </Text>
      ) : !runs || runs.length === 0 ? (
        <Text size="sm" c="dimmed">
          No run is to come.
        </Text>
      ) : (
        <table className={classes.runs}>
          <thead>
            <tr>
              <th scope="col">Starts</th>
              <th scope="col">Events that arrive from</th>
              <th scope="col">to</th>
            </tr>
          </thead>
          <tbody>
            {runs.map(({ due, local }) => (
              <tr key={due}>
                <td>{clockText(local.due)}</td>
                <td>{clockText(local.start)}</td>
                <td>{clockText(local.end)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const clocks = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
  hourCycle: 'h23',
})

/** The API gives local times with their offset: what stands before it is what the clock shows. */
const clockText = (local: string): string => clocks.format(new Date(`${local.slice(0, 19)}Z`))
