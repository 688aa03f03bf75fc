// One filter of an export: what it looks at, how it compares, with what.
import { ActionIcon, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useParams } from '@tanstack/react-router'
import type { Operator } from '../../events/filter'
import { problemOf } from '../../events/operators'
import { ValueInput } from '../../events/ValueInput'
import { Icon } from '../../ui/Icon'
import { Tip } from '../../ui/Tip'
import classes from './Filters.module.css'
import { isUnfinished, kindOfValue, operatorChoices, withOperator, type Filter } from './filters'

const TYPES = [
  { value: 'event', label: 'Event property' },
  { value: 'person', label: 'Person property' },
  { value: 'hogql', label: 'HogQL expression' },
]

const TYPING_MS = 200

type Props = {
  filter: Filter
  /** Whether what is not typed to its end is complained about. */
  isRefused: boolean
  onChange: (filter: Filter) => void
  onRemove: () => void
}

export function FilterRow({ filter, isRefused, onChange, onRemove }: Props) {
  const { projectId } = useParams({ strict: false })
  const { type, key, operator, value } = filter
  // Its values are asked for by name: not by each letter of it.
  const [settledKey] = useDebouncedValue(key.trim(), TYPING_MS)
  const isExpression = type === 'hogql'
  const isIncomplete = isRefused && isUnfinished(filter)
  return (
    <div className={classes.filter} role="group" aria-label={key === '' ? 'Filter' : `Filter by ${key}`}>
      <Select
        aria-label="Kind of filter"
        data={TYPES}
        value={type}
        allowDeselect={false}
        onChange={(next) => onChange({ ...filter, type: next as Filter['type'] })}
      />
      <TextInput
        className={isExpression ? classes.expression : undefined}
        aria-label={isExpression ? 'Expression' : 'Property'}
        placeholder={isExpression ? "properties.plan = 'pro'" : 'plan'}
        value={key}
        required
        error={
          isIncomplete && key.trim() === ''
            ? isExpression
              ? 'Enter an expression'
              : 'Choose a property'
            : undefined
        }
        spellCheck={false}
        onChange={(event) => onChange({ ...filter, key: event.currentTarget.value })}
      />
      {!isExpression && (
        <Select
          aria-label="Operator"
          data={operatorChoices(filter)}
          value={operator}
          allowDeselect={false}
          onChange={(next) => onChange(withOperator(filter, next as Operator))}
        />
      )}
      {settledKey !== '' && kindOfValue(filter) !== 'none' && (
        <div className={classes.value}>
          <ValueInput
            projectId={projectId!}
            subject={{ type, key: settledKey }}
            kind={kindOfValue(filter)}
            value={value}
            onChange={(next) => onChange({ ...filter, value: next })}
            problem={isIncomplete ? problemOf(filter) : null}
            isFirst={false}
          />
        </div>
      )}
      <Tip label="Remove this filter">
        <ActionIcon className={classes.remove} aria-label="Remove this filter" onClick={onRemove}>
          <Icon name="close" size={14} />
        </ActionIcon>
      </Tip>
    </div>
  )
}
