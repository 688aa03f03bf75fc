// Starts one of the jobs that an app offers.
import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { answer, api } from '../api/client'
import { Failure } from '../api/failure'
import { Dialog } from '../ui/Dialog'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { done } from '../ui/notify'
import { payloadOf, type Job, type Parameter } from './jobs'
import type { App } from './queries'

type Props = { projectId: string; app: App; job: Job; onClose: () => void }

export function JobDialog({ projectId, app, job, onClose }: Props) {
  const form = useForm<Record<string, string>>({
    initial: Object.fromEntries(job.parameters.map(({ key, default: value }) => [key, textOf(value)])),
    async submit(texts) {
      const params = { path: { project_id: projectId, id: String(app.id) } }
      const body = {
        job: { type: job.name, payload: readPayload(job, texts) } as unknown as Record<string, never>,
      }
      await answer(api.POST('/api/projects/{project_id}/plugin_configs/{id}/job/', { params, body }))
      done(`${job.name} is started. Its log says how it goes.`)
      onClose()
    },
  })
  return (
    <Dialog opened onClose={onClose} title={job.name}>
      <form ref={form.element} onSubmit={form.onSubmit}>
        <Stack gap="md">
          <FormProblem>{form.problem}</FormProblem>
          {job.parameters.length === 0 && <Text>The job takes no settings. It runs in the background.</Text>}
          {job.parameters.map((parameter) => (
            <ParameterField key={parameter.key} parameter={parameter} field={form.field(parameter.key)} />
          ))}
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={form.isBusy}>
              Start job
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

type FieldProps = {
  parameter: Parameter
  field: ReturnType<ReturnType<typeof useForm<Record<string, string>>>['field']>
}

function ParameterField({ parameter: { title, type, isRequired }, field }: FieldProps) {
  if (type === 'boolean')
    return (
      <NativeSelect
        label={title}
        required={isRequired}
        data={[
          { value: '', label: '' },
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No' },
        ]}
        {...field}
      />
    )
  const help = { json: 'JSON', daterange: 'Two days, such as 2026-01-01/2026-02-01' }[type as string]
  const input = type === 'date' ? 'date' : type === 'number' ? 'number' : 'text'
  return <TextInput label={title} required={isRequired} type={input} description={help} {...field} />
}

function readPayload(job: Job, texts: Record<string, string>): Record<string, unknown> {
  try {
    return payloadOf(job, texts)
  } catch {
    throw new Failure(400, 'invalid_input', 'A field for JSON holds something else.')
  }
}
