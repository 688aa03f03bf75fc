// A new export, step by step: what was chosen stands at the left, the form of the step at the right. Nothing is lost by
// going back, nor by a reload.
import { Button, Group, Text, Title } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { useProject } from '../../api/me'
import { useForm } from '../../ui/form'
import { FormProblem } from '../../ui/FormProblem'
import { Page } from '../../ui/Page'
import { newRoute } from '../addresses'
import { ExportFormContext } from '../form/ExportForm'
import { namesOfSecrets } from '../form/fields'
import { LayoutPart } from '../form/LayoutPart'
import { usePreview } from '../form/preview'
import { RowsPart } from '../form/RowsPart'
import { SchedulePart } from '../form/SchedulePart'
import { configValues, newValues, type Values } from '../form/values'
import { kindOf } from '../KindIcon'
import { destinationsQuery, type Destination } from '../queries'
import { STEPS, type Step } from '../search'
import { ConnectionStep } from './ConnectionStep'
import { createExport } from './create'
import { CreateStep } from './CreateStep'
import { DestinationStep } from './DestinationStep'
import classes from './NewExportPage.module.css'
import { connectionOf, faultsOf, stepOf } from './steps'
import { StepList } from './StepList'

const TITLES: Record<Step, string> = {
  destination: 'Where to',
  connection: 'Connection',
  rows: 'What to export',
  layout: 'Format and layout',
  schedule: 'Schedule',
  create: 'Create export',
}
const ONWARD: Record<Step, string> = {
  destination: 'Choose the destination',
  connection: 'Connect it',
  rows: 'Choose what to export',
  layout: 'Choose the layout',
  schedule: 'Choose when',
  create: 'Review the export',
}

export function NewExportPage() {
  const { projectId } = newRoute.useParams()
  const { step: asked = 'destination' } = newRoute.useSearch()
  const navigate = newRoute.useNavigate()
  const { timezone } = useProject()
  const kinds = useSuspenseQuery(destinationsQuery(projectId)).data.results
  const title = useRef<HTMLHeadingElement>(null)
  const secrets = [...new Set(kinds.flatMap(({ config }) => namesOfSecrets(config)))]
  const form = useForm<Values>({
    // The draft brings back every other field of the destination: without these a refusal would not find them.
    initial: { ...newValues(timezone), ...Object.fromEntries(secrets.map((name) => [name, ''])) },
    draft: `new-export:${projectId}`,
    secrets,
    submit: (values) => createExport(projectId, values, kindOf(values.type, kinds)!, navigate),
  })
  const kind = kindOf(form.values.type, kinds)
  // Without a destination there is nothing to ask about.
  const step: Step = kind ? asked : 'destination'
  const preview = usePreview(projectId, form.values, kind)
  const go = (next: Step) => void navigate({ search: { step: next } })
  const next = STEPS[STEPS.indexOf(step) + 1]

  // The connection whose test has failed: another one has not been tested.
  const [failedConnection, setFailedConnection] = useState<string | null>(null)
  const hasFailed = kind !== undefined && failedConnection === connectionOf(form.values, kind)
  const faults = {
    ...(kind && faultsOf(preview.data?.errors ?? {}, kind)),
    ...(hasFailed && { connection: 'The test of the connection failed.' }),
    ...(form.lost.length > 0 && { connection: 'Its secrets must be entered again.' }),
  }

  const refused = Object.keys(form.errors)[0] ?? form.problemAttr
  const refusedAt = refused !== null && kind ? stepOf(refused, kind) : undefined
  const problemAt = form.problem === null ? undefined : (refusedAt ?? 'create')
  useEffect(() => {
    if (refusedAt !== undefined && refusedAt !== step) go(refusedAt)
  }, [form.errors, form.problem])
  const shownAt = useRef(step)
  useEffect(() => {
    if (shownAt.current !== step && shownAt.current === problemAt) form.dismissProblem()
    shownAt.current = step
  }, [step])
  useEffect(() => {
    const [refused] = Object.keys(form.errors)
    const field = refused === undefined ? null : form.element.current?.elements.namedItem(refused)
    if (field instanceof HTMLElement) field.focus()
    else title.current?.focus()
  }, [step])

  const choose = (chosen: Destination) => {
    if (chosen.type !== form.values.type)
      form.reset({ ...form.values, ...configValues(chosen), type: chosen.type, model: 'events' })
    go('connection')
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (step === 'create') form.onSubmit()
    else if (next) go(next)
  }

  return (
    <Page
      title="New export"
      crumbs={[{ label: 'Exports', link: { to: '/project/$projectId/exports', params: { projectId } } }]}
    >
      <div className={classes.page}>
        <StepList values={form.values} kind={kind} current={step} titles={TITLES} faults={faults} />
        <form
          ref={form.element}
          onSubmit={submit}
          className={classes.form}
          data-wide={step === 'rows' || undefined}
        >
          <Title order={2} ref={title} tabIndex={-1} className={classes.title}>
            {TITLES[step]}
          </Title>
          {step === 'destination' || !kind ? (
            <DestinationStep kinds={kinds} chosen={form.values.type} onChoose={choose} />
          ) : (
            <ExportFormContext value={{ form, kind, preview, isStored: false }}>
              <FormProblem>{step === problemAt ? form.problem : null}</FormProblem>
              {step === 'connection' && (
                <ConnectionStep
                  onTested={(hasPassed) =>
                    setFailedConnection(hasPassed ? null : connectionOf(form.values, kind))
                  }
                />
              )}
              {step === 'rows' && <RowsPart />}
              {step === 'layout' && <LayoutPart />}
              {step === 'schedule' && <SchedulePart />}
              {step === 'create' && <CreateStep />}
              <Group gap="sm" mt="xl">
                <Button type="submit" loading={form.isBusy}>
                  {step === 'create' ? 'Create export' : ONWARD[next!]}
                </Button>
                <Button variant="default" onClick={() => go(STEPS[STEPS.indexOf(step) - 1]!)}>
                  Back
                </Button>
              </Group>
              {step === 'connection' && kind.test_steps.length === 0 && (
                <Text size="sm" c="dimmed" mt="sm">
                  This destination has nothing to test.
                </Text>
              )}
            </ExportFormContext>
          )}
        </form>
      </div>
    </Page>
  )
}
