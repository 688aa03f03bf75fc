import { Button, Group, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { answer, api } from '../../api/client'
import { Failure } from '../../api/failure'
import { useForm } from '../../ui/form'
import { FormProblem } from '../../ui/FormProblem'
import { done, refused } from '../../ui/notify'
import { Copyable } from '../../ui/Values'
import { useExportPath } from '../addresses'
import { ConfigFields } from '../form/ConfigFields'
import { ExportFormContext } from '../form/ExportForm'
import { namesOfSecrets } from '../form/fields'
import { LayoutPart } from '../form/LayoutPart'
import { usePreview } from '../form/preview'
import { RowsPart } from '../form/RowsPart'
import { SchedulePart } from '../form/SchedulePart'
import { TestSteps } from '../form/TestSteps'
import { changesOf, fieldsFor, valuesOf, type Values } from '../form/values'
import { exportsKey, itemOf, type Destination, type Export } from '../queries'
import classes from './SettingsForm.module.css'

type Props = { data: Export; kind: Destination; onSaved: () => void }

export function SettingsForm({ data, kind, onSaved }: Props) {
  const path = useExportPath()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const stored = valuesOf(data, kind)
  /** Somebody else has deleted it, and nothing of this page holds any longer. */
  const leaveDeleted = async () => {
    refused(new Failure(404, 'not_found', `${data.name} was deleted meanwhile.`))
    await navigate({ to: '/project/$projectId/exports', params: { projectId: path.projectId } })
    queries.removeQueries({ queryKey: exportsKey(path.projectId) })
  }
  const form = useForm<Values>({
    initial: stored,
    draft: `export:${data.id}`,
    secrets: namesOfSecrets(kind.config),
    async submit(values, isStored) {
      const body = changesOf(values, stored, kind)
      try {
        await answer(
          api.PATCH('/api/projects/{project_id}/batch_exports/{id}/', {
            params: { path: itemOf(path) },
            body,
          }),
        )
      } catch (error) {
        if (error instanceof Failure && error.status === 404) return leaveDeleted()
        throw error
      }
      // The form begins anew as soon as the list or the export is there, and is not to ask for secrets that were just stored.
      isStored()
      await queries.invalidateQueries({ queryKey: exportsKey(path.projectId) })
      done('The settings are saved. They hold from the next run on.')
      onSaved()
    },
  })
  const preview = usePreview(path.projectId, form.values, kind)
  const changes = changesOf(form.values, stored, kind)
  const isChanged = Object.keys(changes).length > 0
  const { config } = (changes.destination ?? {}) as { config?: Record<string, unknown> }
  const runStep = async (step: number) => {
    const body = { step, ...(config === undefined ? {} : { destination: { config } }) }
    const { result } = await answer(
      api.POST('/api/projects/{project_id}/batch_exports/{id}/run_test_step/', {
        params: { path: itemOf(path) },
        body,
      }),
    )
    return result
  }
  const hasConnection = fieldsFor(form.values, kind).some(({ part }) => part === 'connection')

  return (
    <ExportFormContext value={{ form, kind, preview, isStored: true }}>
      <form ref={form.element} onSubmit={form.onSubmit} className={classes.form}>
        <Part title="General">
          <TextInput label="Name" required maxLength={400} {...form.field('name')} />
          <Text size="sm" c="dimmed" mt="sm">
            Id <Copyable value={data.id} />
          </Text>
        </Part>
        <Part
          title="Connection"
          text={`To ${kind.name}. The kind of destination cannot change: create another export for that.`}
        >
          {hasConnection && <ConfigFields part="connection" />}
          <div className={classes.test}>
            {kind.test_steps.length > 0 && (
              <TestSteps key={JSON.stringify(config)} steps={kind.test_steps} runStep={runStep} />
            )}
          </div>
        </Part>
        <Part title="What to export" isWide>
          <RowsPart />
        </Part>
        <Part title="Format and layout">
          <LayoutPart />
        </Part>
        <Part title="Schedule">
          <SchedulePart />
        </Part>
        <div className={classes.bar} data-changed={isChanged || undefined}>
          <FormProblem>{form.problem}</FormProblem>
          <Group gap="sm" justify="space-between">
            <Text size="sm" c="dimmed" role="status">
              {isChanged ? 'There are changes that are not saved.' : 'Everything is saved.'}
            </Text>
            <Group gap="sm">
              <Button variant="default" disabled={!isChanged} onClick={() => form.reset(stored)}>
                Discard changes
              </Button>
              <Button type="submit" loading={form.isBusy} disabled={!isChanged}>
                Save settings
              </Button>
            </Group>
          </Group>
        </div>
      </form>
    </ExportFormContext>
  )
}

function Part({
  title,
  text,
  isWide = false,
  children,
}: {
  title: string
  text?: string
  isWide?: boolean
  children: ReactNode
}) {
  return (
    <section aria-label={title} className={classes.part} data-wide={isWide || undefined}>
      <div>
        <Title order={2}>{title}</Title>
        {text !== undefined && (
          <Text size="sm" c="dimmed">
            {text}
          </Text>
        )}
      </div>
      <div className={classes.fields}>{children}</div>
    </section>
  )
}
