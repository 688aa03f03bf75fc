// Who may use the project: a rule for everybody, and rules for members and roles.
import { NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answer, api, type Schema } from '../api/client'
import { organizationQuery, useProject } from '../api/me'
import { DataTable, type Column } from '../ui/DataTable'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { GuardedButton } from '../ui/Guarded'
import { done, refused } from '../ui/notify'
import { Section } from '../ui/Section'
import { Failed, Loading } from '../ui/States'
import { Time } from '../ui/Values'
import { accessWord, ruleFor, subjectsOf, type AccessName, type Subject } from './access'
import classes from './AccessTab.module.css'

type Rule = Omit<Schema<'AccessControl'>, 'created_by'>
type Change = { subject: string; access_level: AccessName | null }

const CHOICES: readonly { value: AccessName; label: string }[] = [
  { value: 'none', label: 'No access' },
  { value: 'member', label: 'Uses it' },
  { value: 'admin', label: 'Manages it' },
]

export function AccessTab() {
  const { id, organization } = useProject()
  const queries = useQueryClient()
  const path = { id: String(id) }
  const controls = useQuery({
    queryKey: ['access', id],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/projects/{id}/access_controls/', { params: { path }, signal })),
  })
  const subjects = useSubjects(organization)
  if (controls.isPending || subjects.isPending) return <Loading />
  if (controls.isLoadingError)
    return (
      <Failed
        error={controls.error}
        what="The rules could not be shown."
        onRetry={() => void controls.refetch()}
      />
    )

  const { access_controls, user_can_edit_access_levels, default_access_level } = controls.data
  const denial = user_can_edit_access_levels ? null : 'Only admins of the project may change who can use it.'
  const set = async ({ subject, access_level }: Change) => {
    const body = { access_level, ...ruleFor(subject) }
    await answer(api.PUT('/api/projects/{id}/access_controls/', { params: { path }, body }))
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['access', id] }),
      queries.invalidateQueries({ queryKey: organizationQuery(organization).queryKey }),
    ])
  }
  const forAll = access_controls.find((rule) => rule.organization_member === null && rule.role === null)
  const rules = access_controls.filter((rule) => rule !== forAll)
  return (
    <>
      <Section
        title="Everybody else"
        text="What members may do whom no rule below names. Admins and owners of the organization always manage every project."
      >
        <Everybody
          value={forAll?.access_level ?? default_access_level}
          denial={denial}
          onChange={(access_level) => set({ subject: '', access_level })}
        />
      </Section>
      <Section title="Rules" text="The highest that fits somebody counts." isWide>
        <Rules
          rules={rules}
          subjects={subjects.data}
          denial={denial}
          onRemove={(subject) => set({ subject, access_level: null })}
        />
      </Section>
      <Section title="Add a rule" text="For one member, or for everybody with a role.">
        <NewRule subjects={subjects.data} denial={denial} onAdd={set} />
      </Section>
    </>
  )
}

function useSubjects(organization_id: string) {
  const path = { organization_id }
  return useQuery({
    queryKey: ['subjects', organization_id],
    async queryFn({ signal }): Promise<Subject[]> {
      const [members, roles] = await Promise.all([
        answer(
          api.GET('/api/organizations/{organization_id}/members/', {
            params: { path, query: { limit: 1000 } },
            signal,
          }),
        ),
        answer(
          api.GET('/api/organizations/{organization_id}/roles/', {
            params: { path, query: { limit: 1000 } },
            signal,
          }),
        ),
      ])
      return subjectsOf(members.results, roles.results)
    },
  })
}

type EverybodyProps = {
  value: AccessName
  denial: string | null
  onChange: (access: AccessName) => Promise<void>
}

function Everybody({ value, denial, onChange }: EverybodyProps) {
  const choose = async (access: AccessName) => {
    try {
      await onChange(access)
      done(`Everybody else: ${accessWord(access)}.`)
    } catch (error) {
      refused(error)
    }
  }
  return (
    <NativeSelect
      label="Access"
      data={[...CHOICES]}
      value={value}
      disabled={denial !== null}
      description={denial ?? undefined}
      onChange={(event) => void choose(event.currentTarget.value as AccessName)}
    />
  )
}

type RulesProps = {
  rules: readonly Rule[]
  subjects: readonly Subject[] | undefined
  denial: string | null
  onRemove: (subject: string) => Promise<void>
}

function Rules({ rules, subjects = [], denial, onRemove }: RulesProps) {
  const idOf = ({ organization_member, role }: Rule) =>
    role === null ? `member ${organization_member}` : `role ${role}`
  const nameOf = (rule: Rule) => subjects.find(({ id }) => id === idOf(rule))?.name ?? idOf(rule)
  const remove = async (rule: Rule) => {
    try {
      await onRemove(idOf(rule))
      done(`The rule for ${nameOf(rule)} was removed.`)
    } catch (error) {
      refused(error)
    }
  }
  const columns: Column<Rule>[] = [
    { key: 'who', title: 'Who', width: 'minmax(120px, 2fr)', cell: nameOf },
    { key: 'access', title: 'Access', width: '100px', cell: ({ access_level }) => accessWord(access_level) },
    {
      key: 'since',
      title: 'Since',
      width: '140px',
      isExtra: true,
      cell: ({ updated_at }) => <Time value={updated_at} />,
    },
    {
      key: 'remove',
      title: <span className="aloud">Remove</span>,
      width: '90px',
      align: 'end',
      cell: (rule) => (
        <GuardedButton
          variant="default"
          size="compact-sm"
          denial={denial}
          aria-label={`Remove the rule for ${nameOf(rule)}`}
          onClick={() => void remove(rule)}
        >
          Remove
        </GuardedButton>
      ),
    },
  ]
  if (rules.length === 0) return <Text c="dimmed">There is no rule for anybody in particular.</Text>
  return <DataTable label="Access rules" columns={columns} rows={rules} rowKey={idOf} />
}

type NewRuleProps = {
  subjects: readonly Subject[] | undefined
  denial: string | null
  onAdd: (change: Change) => Promise<void>
}

function NewRule({ subjects = [], denial, onAdd }: NewRuleProps) {
  const form = useForm({
    initial: { subject: subjects[0]?.id ?? '', access_level: 'member' },
    async submit({ subject, access_level }) {
      await onAdd({ subject, access_level: access_level as AccessName })
      done(`${subjects.find(({ id }) => id === subject)?.name}: ${accessWord(access_level as AccessName)}.`)
    },
  })
  if (subjects.length === 0) return <Text c="dimmed">There is nobody to make a rule for.</Text>
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="md">
        <FormProblem>{form.problem}</FormProblem>
        <div className={classes.fields}>
          <NativeSelect
            label="Who"
            data={subjects.map(({ id, name }) => ({ value: id, label: name }))}
            disabled={denial !== null}
            {...form.field('subject')}
          />
          <NativeSelect
            label="Access"
            data={[...CHOICES]}
            disabled={denial !== null}
            {...form.field('access_level')}
          />
        </div>
        <div>
          <GuardedButton type="submit" variant="default" denial={denial} loading={form.isBusy}>
            Add rule
          </GuardedButton>
        </div>
      </Stack>
    </form>
  )
}
