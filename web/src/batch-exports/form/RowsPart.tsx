// What goes out: which model, which events, which columns; with ten real rows as they would be exported.
import { Input, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import type { Export } from '../queries'
import { ConfigFields } from './ConfigFields'
import { useExportForm } from './ExportForm'
import { Filters } from './Filters'
import { PreviewRows } from './PreviewRows'

const MODELS: Record<Export['model'], { label: string; text: string }> = {
  events: { label: 'Events', text: 'Every event, once, in the interval in which it arrived.' },
  persons: { label: 'Persons', text: 'Persons that changed in the interval, as they are at its end.' },
  sessions: { label: 'Sessions', text: 'Sessions that ended in the interval.' },
}

export function RowsPart() {
  const { form, kind, preview } = useExportForm()
  const { model } = form.values
  const isEvents = model === 'events'
  const errors = preview.data?.errors
  const columnsError = errors?.columns?.attr === 'hogql_query' ? errors.columns.detail : undefined
  return (
    <Stack gap="md">
      {kind.models.length > 1 && (
        <Input.Wrapper label="Model" labelElement="div" error={form.errors.model}>
          <div>
            <SegmentedControl
              aria-label="Model"
              data={kind.models.map((value) => ({ value, label: MODELS[value].label }))}
              value={model}
              onChange={(value) => form.set('model', value as Export['model'])}
            />
          </div>
          <Text size="sm" c="dimmed" mt={4}>
            {MODELS[model].text}
          </Text>
        </Input.Wrapper>
      )}
      {isEvents && (
        <>
          <ConfigFields part="rows" isUnfolded />
          <Filters />
          {kind.takes_custom_columns && (
            <Textarea
              label="Own columns"
              description="A HogQL query over events that names the columns and may filter rows. Empty: the columns of the destination."
              placeholder="SELECT uuid, event, timestamp, properties.plan AS plan FROM events"
              classNames={{ input: 'mono' }}
              autosize
              minRows={2}
              maxRows={12}
              spellCheck={false}
              {...form.field('hogql_query')}
              error={form.errors.hogql_query ?? columnsError}
            />
          )}
        </>
      )}
      <PreviewRows />
    </Stack>
  )
}
