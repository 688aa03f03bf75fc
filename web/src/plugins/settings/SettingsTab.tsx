// What an app is set to in this project: its own settings, then what Longshore does with it.
import { Button, Group, Select, Stack, TagsInput, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../../api/client'
import { Failure } from '../../api/failure'
import { useForm } from '../../ui/form'
import { FormProblem } from '../../ui/FormProblem'
import { GuardedButton } from '../../ui/Guarded'
import { done } from '../../ui/notify'
import { InlineText } from '../InlineText'
import { changeApp, sendForm, type App } from '../queries'
import { useAppDenial } from '../rights'
import {
  holds,
  initialValues,
  isStoredSecret,
  readSettings,
  settingsBody,
  storedFile,
  WrongJson,
  type FormValues,
  type SettingsBody,
} from '../schema-fields'
import { Facts } from './Facts'
import { eventNames, withEventNames } from './filters'
import { SettingField } from './SettingField'
import classes from './SettingsTab.module.css'

const ON_FAILURE = [
  { value: 'pass', label: 'Store them without it' },
  { value: 'hold', label: 'Hold them until it can' },
  { value: 'drop', label: 'Drop them' },
]

export function SettingsTab({ projectId, app }: { projectId: string; app: App }) {
  const [saves, setSaves] = useState(0)
  // When what is stored has changed, the form begins anew from it, with what was typed. Secrets are never in what is stored.
  return (
    <SettingsForm
      key={JSON.stringify([saves, initialForm(app), app.plugin_info.config_schema])}
      projectId={projectId}
      app={app}
      onSaved={() => setSaves(saves + 1)}
    />
  )
}

type Props = { projectId: string; app: App; onSaved: () => void }

function SettingsForm({ projectId, app, onSaved }: Props) {
  const denial = useAppDenial('configure')
  const settings = readSettings(app.plugin_info.config_schema)
  const methods = methodsOf(app)
  const isDestination = app.families.includes('pipeline_destinations')
  const [initial] = useState(() => initialForm(app))
  const form = useForm<FormValues>({
    initial,
    draft: `app ${app.id}`,
    secrets: settings.flatMap((setting) =>
      'note' in setting || (!setting.isSecret && setting.type !== 'attachment') ? [] : [setting.name],
    ),
    async submit(values) {
      const body = readBody(() => settingsBody(settings, values, app.config))
      const fields = changedFields(app, initial, values)
      const saved =
        body.added.length + body.removed.length > 0
          ? await sendForm(projectId, app.id, formData(body, fields))
          : await changeApp(projectId, app.id, { config: body.config, ...fields })
      done(`The settings of ${saved.name} are saved.`)
      onSaved()
    },
  })
  const events = useQuery({ ...knownEvents(projectId), enabled: isDestination })
  const isChanged = Object.entries(form.values).some(([name, value]) => !isSame(value, initial[name]))

  return (
    <form ref={form.element} onSubmit={form.onSubmit} className={classes.form}>
      <FormProblem>{form.problem}</FormProblem>
      <section className={classes.section} aria-label="Settings of the app">
        <Stack gap="md">
          {settings.length === 0 && <Text c="dimmed">This app has no settings of its own.</Text>}
          {settings.map((setting, index) => {
            if ('note' in setting)
              return (
                <div key={index} className={classes.note}>
                  <InlineText>{setting.note}</InlineText>
                </div>
              )
            if (!holds(setting.visibleIf, settings, form.values)) return null
            return (
              <SettingField
                key={setting.key}
                setting={setting}
                value={form.values[setting.name]}
                error={form.errors[setting.name]}
                isRequired={
                  setting.isRequired ||
                  (setting.requiredIf.length > 0 && holds(setting.requiredIf, settings, form.values))
                }
                isStored={isStoredSecret(setting, app.config)}
                file={storedFile(setting, app.config)}
                onChange={(value) => form.set(setting.name, value)}
              />
            )
          })}
        </Stack>
      </section>
      <section className={classes.section} aria-label="In this project">
        <Stack gap="md">
          <Title order={2}>In this project</Title>
          <TextInput
            label="Name"
            maxLength={400}
            autoComplete="off"
            {...form.field('name')}
            value={String(form.values.name)}
          />
          <Textarea
            label="Description (optional)"
            maxLength={1000}
            autosize
            maxRows={6}
            {...form.field('description')}
            value={String(form.values.description)}
          />
          {methods.includes('processEvent') && (
            <Select
              label="Events that it cannot run on"
              description="When the app fails or takes too long."
              data={ON_FAILURE}
              allowDeselect={false}
              name="on_failure"
              error={form.errors.on_failure}
              value={String(form.values.on_failure)}
              onChange={(value) => form.set('on_failure', value)}
            />
          )}
          {isDestination && (
            <TagsInput
              label="Only these events (optional)"
              description="Without one it gets all. Filters by property are kept as they are."
              data={events.data ?? []}
              value={form.values.events as string[]}
              error={form.errors.filters}
              onChange={(value) => form.set('events', value)}
              // A name may have a comma in it.
              splitChars={[]}
              clearable
              clearButtonProps={{ 'aria-label': 'Clear' }}
            />
          )}
        </Stack>
      </section>
      <Group mt="xl" gap="sm">
        <GuardedButton denial={denial} type="submit" loading={form.isBusy}>
          Save settings
        </GuardedButton>
        {isChanged && (
          <Button variant="default" onClick={() => form.reset()}>
            Discard changes
          </Button>
        )}
      </Group>
      <Facts app={app} />
    </form>
  )
}

function initialForm(app: App): FormValues {
  return {
    ...initialValues(readSettings(app.plugin_info.config_schema), app.config),
    name: app.name ?? '',
    description: app.description ?? '',
    on_failure: app.on_failure,
    events: eventNames(app.filters),
  }
}

export function methodsOf({ plugin_info: { capabilities } }: App): readonly string[] {
  const { methods } = (capabilities ?? {}) as { methods?: string[] }
  return methods ?? []
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (Array.isArray(one) && JSON.stringify(one) === JSON.stringify(other))

/** A name that is the plugin's own is not stored as another. */
function changedFields(app: App, initial: FormValues, values: FormValues): Record<string, unknown> {
  const ownText = (field: 'name' | 'description') =>
    values[field] === (app.plugin_info[field] ?? '') ? '' : values[field]
  return {
    ...(values.name === initial.name ? {} : { name: ownText('name') }),
    ...(values.description === initial.description ? {} : { description: ownText('description') }),
    ...(values.on_failure === initial.on_failure ? {} : { on_failure: values.on_failure }),
    ...(isSame(values.events, initial.events)
      ? {}
      : { filters: withEventNames(app.filters, values.events as string[]) }),
  }
}

function formData({ config, added, removed }: SettingsBody, fields: Record<string, unknown>): FormData {
  const form = new FormData()
  form.set('config', JSON.stringify(config))
  for (const [name, value] of Object.entries(fields))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  for (const { key, file } of added) form.set(`add_attachment[${key}]`, file, file.name)
  for (const key of removed) form.set(`remove_attachment[${key}]`, 'true')
  return form
}

/** A field that holds no JSON is refused here as the API would. */
function readBody(read: () => SettingsBody): SettingsBody {
  try {
    return read()
  } catch (error) {
    throw error instanceof WrongJson ? new Failure(400, 'invalid_input', error.message, error.field) : error
  }
}

const knownEvents = (projectId: string) => ({
  queryKey: ['event names', projectId],
  async queryFn() {
    const params = { path: { project_id: projectId }, query: { limit: 200 } }
    const { results } = await answer(api.GET('/api/projects/{project_id}/event_definitions/', { params }))
    return results.map(({ name }) => name)
  },
})
