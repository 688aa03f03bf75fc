import { Checkbox, Radio, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client'
import { useParams } from '@tanstack/react-router'
import type { LimitFields, Where } from './limits'
import classes from './LimitChoice.module.css'

type Props = {
  kind: 'personal' | 'service'
  value: LimitFields
  onChange: (fields: LimitFields) => void
  error?: string
}

/** Where a key works: wherever its owner may go, or only in some organizations or projects. */
export function LimitChoice({ kind, value, onChange, error }: Props) {
  const { where } = value
  const { organizationId } = useParams({ strict: false })
  const all = useQuery({
    queryKey: ['organizations'],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/organizations/', { params: { query: { limit: 100 } }, signal })),
  }).data?.results
  const organizations = kind === 'service' ? all?.filter(({ id }) => id === organizationId) : all
  const choose = (next: string) =>
    onChange({ where: next as Where, scoped_organizations: [], scoped_teams: [] })
  const projects = organizations?.flatMap(({ name, teams }) =>
    teams.map((team) => ({
      id: team.id,
      name: organizations.length > 1 ? `${name} / ${team.name}` : team.name,
    })),
  )
  return (
    <Stack gap="sm">
      <Radio.Group label="Where it works" value={where} onChange={choose} error={error}>
        <Stack gap="sm" mt="sm">
          <Radio
            value="all"
            label={kind === 'service' ? 'In the whole organization' : 'Wherever you may go'}
          />
          {kind === 'personal' && <Radio value="organizations" label="Only in these organizations" />}
          <Radio value="projects" label="Only in these projects" />
        </Stack>
      </Radio.Group>
      {where === 'organizations' && (
        <Choices
          label="Organizations"
          choices={organizations?.map(({ id, name }) => ({ id, name }))}
          chosen={value.scoped_organizations}
          onChange={(ids) => onChange({ ...value, scoped_organizations: ids })}
        />
      )}
      {where === 'projects' && (
        <Choices
          label="Projects"
          choices={projects?.map(({ id, name }) => ({ id: String(id), name }))}
          chosen={value.scoped_teams.map(String)}
          onChange={(ids) => onChange({ ...value, scoped_teams: ids.map(Number) })}
        />
      )}
    </Stack>
  )
}

type ChoicesProps = {
  label: string
  choices: readonly { id: string; name: string }[] | undefined
  chosen: readonly string[]
  onChange: (ids: string[]) => void
}

function Choices({ label, choices = [], chosen, onChange }: ChoicesProps) {
  // A key may be limited to something that is gone: that must not vanish by saving.
  const gone = chosen.filter((id) => !choices.some((choice) => choice.id === id))
  const shown = [...choices, ...gone.map((id) => ({ id, name: `${id} (out of your reach)` }))]
  return (
    <Checkbox.Group value={[...chosen]} onChange={onChange} aria-label={label}>
      <div className={classes.choices}>
        {shown.map(({ id, name }) => (
          <Checkbox key={id} value={id} label={name} />
        ))}
        {chosen.length === 0 && (
          <Text size="sm" c="dimmed">
            Choose at least one.
          </Text>
        )}
      </div>
    </Checkbox.Group>
  )
}
