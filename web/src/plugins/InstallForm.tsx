import { Button, Code, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useProject } from '../api/me'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { done } from '../ui/notify'
import classes from './NewAppPage.module.css'
import { addToProject, createPlugin } from './queries'

/** An app from GitHub, GitLab or npm, or from a folder that the server may read. */
export function InstallForm({ projectId }: { projectId: string }) {
  const { organization } = useProject()
  const navigate = useNavigate()
  const form = useForm({
    initial: { url: '', token: '' },
    draft: 'install app',
    secrets: ['token'],
    async submit({ url, token }) {
      const plugin = await createPlugin(organization, { url: withToken(url.trim(), token.trim()) })
      const app = await addToProject(projectId, plugin.id)
      done(`${app.name} is installed, and off until you switch it on.`)
      await navigate({
        to: '/project/$projectId/apps/$configId/$tab',
        params: { projectId, configId: String(app.id), tab: 'settings' },
      })
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit} className={classes.form}>
      <Stack gap="md">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput
          label="Address"
          description="A repository on GitHub or GitLab, or the page of a package on npm. A branch, tag or commit in it is kept to."
          placeholder="https://github.com/example/longshore-app"
          required
          autoFocus
          autoComplete="off"
          {...form.field('url')}
        />
        <PasswordInput
          label="Access token (optional)"
          description="For a private repository. It is kept sealed and never shown again."
          autoComplete="off"
          {...form.field('token')}
        />
        <Text c="dimmed" size="sm">
          The app needs a <Code>plugin.json</Code> with its name, and its code in one file. Its code runs on
          this server in a sandbox.
        </Text>
        <div>
          <Button type="submit" loading={form.isBusy}>
            Install app
          </Button>
        </div>
      </Stack>
    </form>
  )
}

function withToken(url: string, token: string): string {
  if (token === '') return url
  return `${url}${url.includes('?') ? '&' : '?'}private_token=${encodeURIComponent(token)}`
}
