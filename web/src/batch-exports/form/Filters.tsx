import { ActionIcon, Button, Input, Select, TextInput } from '@mantine/core'
import { Icon } from '../../ui/Icon'
import { Tip } from '../../ui/Tip'
import { useExportForm } from './ExportForm'
import classes from './Filters.module.css'
import { isUnfinished, needsValue, type Filter } from './values'

const TYPES = [
  { value: 'event', label: 'Event property' },
  { value: 'person', label: 'Person property' },
  { value: 'hogql', label: 'HogQL expression' },
]
const OPERATORS = [
  { value: 'exact', label: 'is' },
  { value: 'is_not', label: 'is not' },
  { value: 'icontains', label: 'contains' },
  { value: 'not_icontains', label: 'does not contain' },
  { value: 'regex', label: 'matches' },
  { value: 'not_regex', label: 'does not match' },
  { value: 'gt', label: 'is above' },
  { value: 'gte', label: 'is at least' },
  { value: 'lt', label: 'is below' },
  { value: 'lte', label: 'is at most' },
  { value: 'is_set', label: 'is set' },
  { value: 'is_not_set', label: 'is not set' },
  { value: 'is_date_before', label: 'is before' },
  { value: 'is_date_after', label: 'is after' },
]
const NEW: Filter = { type: 'event', key: '', operator: 'exact', value: '' }

/** Property filters: all of them must hold. */
export function Filters() {
  const { form, preview } = useExportForm()
  const { filters } = form.values
  const refusal = Object.values(preview.data?.errors ?? {}).find((fault) =>
    fault?.attr?.startsWith('filters'),
  )
  const isRefused = form.errors.filters !== undefined
  const set = (next: readonly Filter[]) => form.set('filters', next)
  const change = (at: number, fields: Partial<Filter>) =>
    set(filters.map((filter, index) => (index === at ? { ...filter, ...fields } : filter)))
  return (
    <Input.Wrapper
      label="Only rows where"
      description="All of these must hold. Several values are separated by commas."
      labelElement="div"
      error={
        isRefused && filters.some(isUnfinished)
          ? 'Finish each filter, or remove it.'
          : (form.errors.filters ?? refusal?.detail)
      }
    >
      <div className={classes.filters}>
        {filters.map((filter, index) => (
          <div key={index} className={classes.filter}>
            <Select
              aria-label="Kind of filter"
              data={TYPES}
              value={filter.type}
              allowDeselect={false}
              onChange={(type) => change(index, { type: type as Filter['type'] })}
            />
            <TextInput
              aria-label={filter.type === 'hogql' ? 'Expression' : 'Property'}
              placeholder={filter.type === 'hogql' ? "properties.plan = 'pro'" : 'plan'}
              value={filter.key}
              required
              error={
                isRefused && filter.key.trim() === ''
                  ? filter.type === 'hogql'
                    ? 'Enter an expression'
                    : 'Choose a property'
                  : undefined
              }
              spellCheck={false}
              onChange={(event) => change(index, { key: event.currentTarget.value })}
            />
            {filter.type !== 'hogql' && (
              <Select
                aria-label="Operator"
                data={OPERATORS}
                value={filter.operator}
                allowDeselect={false}
                onChange={(operator) => change(index, { operator: operator! })}
              />
            )}
            {needsValue(filter) && (
              <TextInput
                aria-label="Value"
                placeholder="Value"
                value={filter.value}
                required
                error={isRefused && filter.value === '' ? 'Enter a value' : undefined}
                onChange={(event) => change(index, { value: event.currentTarget.value })}
              />
            )}
            <Tip label="Remove this filter">
              <ActionIcon
                aria-label="Remove this filter"
                onClick={() => set(filters.filter((_, at) => at !== index))}
              >
                <Icon name="close" size={14} />
              </ActionIcon>
            </Tip>
          </div>
        ))}
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Icon name="plus" size={12} />}
          onClick={() => set([...filters, NEW])}
        >
          Add a filter
        </Button>
      </div>
    </Input.Wrapper>
  )
}
