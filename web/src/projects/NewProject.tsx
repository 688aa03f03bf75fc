import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answer, api } from '../api/client'
import { meQuery, organizationQuery, useOrganization } from '../api/me'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { done } from '../ui/notify'
import { ZoneInput } from './ZoneInput'

export function NewProject({ onCancel }: { onCancel: () => void }) {
  const { id: organization_id } = useOrganization()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const form = useForm({
    initial: { name: '', timezone: Intl.DateTimeFormat().resolvedOptions().timeZone },
    draft: `new project ${organization_id}`,
    async submit(body) {
      const params = { path: { organization_id } }
      const { id, name } = await answer(
        api.POST('/api/organizations/{organization_id}/projects/', { params, body }),
      )
      await Promise.all([
        queries.invalidateQueries({ queryKey: meQuery.queryKey }),
        queries.invalidateQueries({ queryKey: organizationQuery(organization_id).queryKey }),
        queries.invalidateQueries({ queryKey: ['projects', organization_id] }),
      ])
      done(`Project ${name} was made.`)
      await navigate({ to: '/project/$projectId', params: { projectId: String(id) } })
    },
  })
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="lg">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput label="Name" required data-autofocus {...form.field('name')} />
        <ZoneInput {...form.field('timezone')} />
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy}>
            Create project
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
