// Making or changing a key: its label, what it may do, where, and until when. Personal and service keys alike.
import { Button, Chip, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useForm } from '../ui/form'
import { FormProblem } from '../ui/FormProblem'
import { GuardedButton } from '../ui/Guarded'
import { dayIn, dayOf, endOfDay, EXPIRY_CHOICES } from './expiry'
import { LimitChoice } from './LimitChoice'
import { isUndecided, limitFields, type LimitFields, type Limits } from './limits'
import { ScopeGrid } from './ScopeGrid'

export type KeyFields = { label: string; scopes: string[]; expires_at: string | null } & Limits

type Props = {
  /** Empty for a new key. */
  stored?: KeyFields
  /** What was typed is kept under this name until it is sent. */
  draft: string
  kind: 'personal' | 'service'
  /** "Create key" */
  button: string
  onSubmit: (fields: KeyFields & { level: number }) => Promise<unknown>
  onCancel: () => void
}

const NEW: KeyFields = { label: '', scopes: [], scoped_organizations: [], scoped_teams: [], expires_at: null }
const LEVEL_CHOICES = [
  { value: '8', label: 'Admin: also manages members, domains and projects' },
  { value: '1', label: 'Member' },
]

/** Null when there is enough to make a key of. */
function lackOf(values: { scopes: string[] } & LimitFields): string | null {
  if (values.scopes.length === 0) return 'Choose at least one thing that the key may do.'
  return isUndecided(values) ? 'Choose where the key works.' : null
}

export function KeyForm({ stored, draft, kind, button, onSubmit, onCancel }: Props) {
  const { label, scopes, expires_at, ...limits } = stored ?? NEW
  const form = useForm({
    initial: { label, scopes, expires_at: dayOf(expires_at), level: '8', ...limitFields(limits) },
    draft,
    submit: ({ expires_at: day, level, where: _where, ...fields }) =>
      // An expiry that was not touched keeps its very moment.
      onSubmit({
        ...fields,
        level: Number(level),
        expires_at: day === dayOf(expires_at) ? expires_at : endOfDay(day),
      }),
  })
  const { values } = form
  return (
    <form ref={form.element} onSubmit={form.onSubmit}>
      <Stack gap="xl">
        <FormProblem>{form.problem}</FormProblem>
        <TextInput
          label="Label"
          description="Where it is used, so that you know it again."
          required
          maxLength={40}
          data-autofocus
          {...form.field('label')}
        />
        {kind === 'service' && stored === undefined && (
          <NativeSelect label="Level" data={LEVEL_CHOICES} {...form.field('level')} />
        )}
        <ScopeGrid
          value={values.scopes}
          onChange={(chosen) => form.set('scopes', chosen)}
          error={form.errors.scopes}
          without={kind === 'service' ? ['user'] : []}
        />
        <LimitChoice
          kind={kind}
          value={values}
          onChange={(fields) => {
            form.set('where', fields.where)
            form.set('scoped_organizations', fields.scoped_organizations)
            form.set('scoped_teams', fields.scoped_teams)
          }}
          error={form.errors.scoped_organizations ?? form.errors.scoped_teams}
        />
        <Stack gap="sm">
          <TextInput
            type="date"
            label="Expires at the end of"
            description="Left empty, it works until it is deleted."
            {...form.field('expires_at')}
          />
          <Group gap="xs">
            {EXPIRY_CHOICES.map(({ days, label: name }) => (
              <Chip
                key={days}
                size="xs"
                checked={values.expires_at === dayIn(days)}
                onChange={() => form.set('expires_at', dayIn(days))}
              >
                {name}
              </Chip>
            ))}
            <Chip size="xs" checked={values.expires_at === ''} onChange={() => form.set('expires_at', '')}>
              Never
            </Chip>
          </Group>
        </Stack>
        <Group gap="sm">
          <GuardedButton type="submit" loading={form.isBusy} denial={lackOf(values)}>
            {button}
          </GuardedButton>
          <Button
            variant="default"
            onClick={() => {
              form.reset()
              onCancel()
            }}
          >
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
