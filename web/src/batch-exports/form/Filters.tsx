import { Button, Input } from '@mantine/core'
import { Icon } from '../../ui/Icon'
import { useExportForm } from './ExportForm'
import { FilterRow } from './FilterRow'
import classes from './Filters.module.css'
import { isUnfinished, NEW_FILTER, type Filter } from './filters'

/** Property filters: all of them must hold. */
export function Filters() {
  const { form, preview } = useExportForm()
  const { filters } = form.values
  const refusal = Object.values(preview.data?.errors ?? {}).find((fault) =>
    fault?.attr?.startsWith('filters'),
  )
  const isRefused = form.errors.filters !== undefined
  const set = (next: readonly Filter[]) => form.set('filters', next)
  return (
    <Input.Wrapper
      label="Only rows where"
      description="All of these must hold."
      labelElement="div"
      error={
        isRefused && filters.some(isUnfinished)
          ? 'Finish each filter, or remove it.'
          : (form.errors.filters ?? refusal?.detail)
      }
    >
      <div className={classes.filters}>
        {filters.map((filter, index) => (
          <FilterRow
            key={index}
            filter={filter}
            isRefused={isRefused}
            onChange={(next) => set(filters.map((each, at) => (at === index ? next : each)))}
            onRemove={() => set(filters.filter((_, at) => at !== index))}
          />
        ))}
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Icon name="plus" size={12} />}
          onClick={() => set([...filters, NEW_FILTER])}
        >
          Add a filter
        </Button>
      </div>
    </Input.Wrapper>
  )
}
