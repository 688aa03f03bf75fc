// Which properties are columns: those shown, in their order, and a search for others.
import { ActionIcon, Button, Checkbox, Popover, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Icon } from '../ui/Icon'
import classes from './ColumnPicker.module.css'
import { columnTitle, personColumn } from './columns'
import { propertyNamesQuery } from './queries'

type Props = { projectId: string; columns: readonly string[]; onChange: (columns: string[]) => void }

const DEBOUNCE_MS = 200
const MOST = 12

export function ColumnPicker({ projectId, columns, onChange }: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={300} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<Icon name="columns" size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        {isOpen && <Picker projectId={projectId} columns={columns} onChange={onChange} />}
      </Popover.Dropdown>
    </Popover>
  )
}

function Picker({ projectId, columns, onChange }: Props) {
  const [search, setSearch] = useState('')
  const [typed] = useDebouncedValue(search.trim(), DEBOUNCE_MS)
  const ofEvents = useQuery(propertyNamesQuery(projectId, { type: 'event' }, typed)).data ?? []
  const ofPersons = useQuery(propertyNamesQuery(projectId, { type: 'person' }, typed)).data ?? []
  const others = [...ofEvents, ...ofPersons.map(personColumn)].filter((column) => !columns.includes(column))
  const isFull = columns.length >= MOST
  const move = (at: number) => onChange(columns.with(at - 1, columns[at]!).with(at, columns[at - 1]!))
  return (
    <Stack gap="sm">
      <TextInput
        aria-label="Search properties"
        placeholder="Search properties"
        leftSection={<Icon name="search" size={14} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        data-autofocus
      />
      <div className={classes.list}>
        {columns.map((column, at) => (
          <div key={column} className={classes.choice}>
            <Checkbox
              checked
              onChange={() => onChange(columns.filter((each) => each !== column))}
              label={columnTitle(column)}
              classNames={{ label: 'mono' }}
            />
            {at > 0 && (
              <ActionIcon
                size="sm"
                aria-label={`Move ${columnTitle(column)} to the left`}
                onClick={() => move(at)}
              >
                <Icon name="up" size={12} />
              </ActionIcon>
            )}
          </div>
        ))}
        {columns.length > 0 && others.length > 0 && <hr className={classes.line} />}
        {others.map((column) => (
          <div key={column} className={classes.choice}>
            <Checkbox
              checked={false}
              disabled={isFull}
              onChange={() => onChange([...columns, column])}
              label={columnTitle(column)}
              classNames={{ label: 'mono' }}
            />
          </div>
        ))}
        {others.length === 0 && typed !== '' && (
          <Button
            variant="subtle"
            size="compact-sm"
            disabled={isFull}
            onClick={() => onChange([...columns, typed])}
          >
            Add column {typed}
          </Button>
        )}
      </div>
      {isFull && (
        <Text size="xs" c="dimmed">
          {MOST} columns are the most.
        </Text>
      )}
    </Stack>
  )
}
