import { Stack, Text } from '@mantine/core'
import { answer, api } from '../../api/client'
import { newRoute } from '../addresses'
import { ConfigFields } from '../form/ConfigFields'
import { useExportForm } from '../form/ExportForm'
import { TestSteps } from '../form/TestSteps'
import { configOf, fieldsFor } from '../form/values'

export function ConnectionStep({ onTested }: { onTested: (hasPassed: boolean) => void }) {
  const { projectId } = newRoute.useParams()
  const { form, kind, preview } = useExportForm()
  const config = configOf(form.values, kind)
  const hasFields = fieldsFor(form.values, kind).some(({ part }) => part === 'connection')
  const runStep = async (step: number) => {
    const body = { destination: { type: kind.type, config: configForTest(config, kind.config) }, step }
    const { result } = await answer(
      api.POST('/api/projects/{project_id}/batch_exports/run_test_step_new/', {
        params: { path: { project_id: projectId } },
        body,
      }),
    )
    return result
  }
  return (
    <Stack gap="lg">
      {hasFields ? (
        <ConfigFields part="connection" />
      ) : (
        <Text c="dimmed">{kind.description} It needs no account.</Text>
      )}
      {kind.type === 'File' && (
        <Text c="dimmed">
          Each project has a folder of its own in the export folder of the server, which is{' '}
          <code>EXPORT_DIR</code>, or <code>exports</code> in its data folder. The next file is{' '}
          <code className="mono">
            {projectId}/{preview.data?.files?.[0] ?? '…'}
          </code>{' '}
          there.
        </Text>
      )}
      {kind.test_steps.length > 0 && (
        <TestSteps key={JSON.stringify(config)} steps={kind.test_steps} runStep={runStep} onEnd={onTested} />
      )}
    </Stack>
  )
}

type Schema = { required?: string[]; properties: Record<string, { examples?: unknown[]; 'x-part'?: string }> }

/** What later steps ask for is not known yet, and the tests of a connection do not need it: an example stands for it. */
function configForTest(
  config: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { required = [], properties } = schema as unknown as Schema
  const missing = required.filter(
    (name) => properties[name]?.['x-part'] !== 'connection' && config[name] === undefined,
  )
  return {
    ...config,
    ...Object.fromEntries(missing.map((name) => [name, properties[name]?.examples?.[0] ?? 'longshore'])),
  }
}
