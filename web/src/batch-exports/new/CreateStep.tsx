import { Checkbox, Stack, TextInput } from '@mantine/core'
import { Facts } from '../Facts'
import { useExportForm } from '../form/ExportForm'
import { STEPS } from '../search'
import { chosenIn } from './steps'

const NAMES = {
  destination: 'Where to',
  connection: 'Connection',
  rows: 'What',
  layout: 'Layout',
  schedule: 'When',
  create: '',
}

export function CreateStep() {
  const { form, kind } = useExportForm()
  return (
    <Stack gap="lg">
      <TextInput
        label="Name"
        description="As it is called in lists and mails."
        required
        maxLength={400}
        placeholder={`Events to ${kind.name}`}
        {...form.field('name')}
      />
      <Facts
        facts={STEPS.filter((step) => step !== 'create').map(
          (step) => [NAMES[step], chosenIn(step, form.values, kind) ?? '–'] as const,
        )}
      />
      <Checkbox
        name="backfill"
        label="Also export everything so far"
        description="A backfill delivers all events that are stored already, in the intervals of the schedule. Without it the export begins with the current interval."
        checked={form.values.backfill === true}
        onChange={(event) => form.set('backfill', event.currentTarget.checked as never)}
      />
    </Stack>
  )
}
