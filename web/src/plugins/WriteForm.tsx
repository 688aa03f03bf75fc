import { Button, Radio, Stack, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useProject } from '../api/me'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { done } from '../ui/notify'
import classes from './NewAppPage.module.css'
import { addToProject, createPlugin, saveFiles } from './queries'
import { TEMPLATES } from './templates'

/** A new app with a little code to begin from. */
export function WriteForm({ projectId }: { projectId: string }) {
  const { organization } = useProject()
  const navigate = useNavigate()
  const form = useForm({
    initial: { name: '', template: 'transformation' },
    draft: 'write app',
    async submit({ name, template }) {
      const { files } = TEMPLATES.find(({ value }) => value === template)!
      const plugin = await createPlugin(organization, { plugin_type: 'source', name })
      await saveFiles(organization, plugin.id, files(name.trim()))
      const app = await addToProject(projectId, plugin.id)
      done(`${app.name} is made, and off until you switch it on.`)
      await navigate({
        to: '/project/$projectId/apps/$configId/$tab',
        params: { projectId, configId: String(app.id), tab: 'code' },
      })
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit} className={classes.form}>
      <Stack gap="md">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput
          label="Name"
          required
          autoFocus
          autoComplete="off"
          maxLength={200}
          {...form.field('name')}
        />
        <Radio.Group
          label="What it does"
          description="Where the code begins. All of it can be changed later."
          value={form.values.template}
          onChange={(value) => form.set('template', value)}
        >
          <Stack gap="sm" mt="sm">
            {TEMPLATES.map(({ value, label, what }) => (
              <div
                key={value}
                className={classes.choice}
                data-checked={value === form.values.template || undefined}
              >
                <Radio value={value} label={label} description={what} />
              </div>
            ))}
          </Stack>
        </Radio.Group>
        <div>
          <Button type="submit" loading={form.isBusy}>
            Create app
          </Button>
        </div>
      </Stack>
    </form>
  )
}
