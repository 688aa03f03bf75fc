// Filters as chips that read as one sentence: "event is pageview and $browser is not Safari". A chip opens its editor.
import { Button, CloseButton, Popover, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, useState, type ComponentType, type ReactNode } from 'react'
import { Icon } from '../ui/Icon'
import { refused } from '../ui/notify'
import type { Filter } from './filter'
import classes from './FilterBar.module.css'
import type { EditorProps } from './FilterEditor'
import { conditionWords, operatorWords, subjectWords, valueKind } from './operators'
import { groupTypesQuery } from './queries'

type Props = { projectId: string; filters: readonly Filter[]; onChange: (filters: Filter[]) => void }

export function FilterBar({ projectId, filters, onChange }: Props) {
  const [open, setOpen] = useState<number | 'new' | null>(null)
  const [Editor, setEditor] = useState<ComponentType<EditorProps> | null>(null)
  const types = useQuery(groupTypesQuery(projectId)).data ?? []
  const groups: string[] = []
  for (const { group_type, group_type_index } of types) groups[group_type_index] = group_type

  const apply = (at: number) => (filter: Filter) => {
    onChange(filters.toSpliced(at, 1, filter))
    setOpen(null)
  }
  // It is there before it opens, so that the focus finds its first field.
  const show = async (at: number | 'new') => {
    try {
      const { FilterEditor } = await import('./FilterEditor')
      setEditor(() => FilterEditor)
      setOpen(at)
    } catch (error) {
      refused(error)
    }
  }
  const toggle = (at: number | 'new') => (open === at ? setOpen(null) : void show(at))
  const editor = (at: number, filter: Filter | null) =>
    Editor && <Editor projectId={projectId} groups={groups} initial={filter} onApply={apply(at)} />
  return (
    <div className={classes.bar} role="group" aria-label="Filters">
      {filters.map((filter, at) => {
        const words =
          filter.type === 'hogql' ? filter.key : `${subjectWords(filter, groups)} ${conditionWords(filter)}`
        return (
          <Fragment key={`${at} ${words}`}>
            {at > 0 && <span className={classes.and}>and</span>}
            <span className={classes.chip}>
              <EditorPopover
                isOpen={open === at}
                onClose={() => setOpen(null)}
                editor={() => editor(at, filter)}
              >
                <UnstyledButton
                  className={classes.words}
                  onClick={() => toggle(at)}
                  aria-label={`Change filter: ${words}`}
                >
                  <Words filter={filter} groups={groups} />
                </UnstyledButton>
              </EditorPopover>
              <CloseButton
                size="xs"
                aria-label={`Remove filter: ${words}`}
                onClick={() => onChange(filters.filter((_, index) => index !== at))}
              />
            </span>
          </Fragment>
        )
      })}
      <EditorPopover
        isOpen={open === 'new'}
        onClose={() => setOpen(null)}
        editor={() => editor(filters.length, null)}
      >
        <Button
          variant={filters.length === 0 ? 'default' : 'subtle'}
          leftSection={<Icon name={filters.length === 0 ? 'filter' : 'plus'} size={14} />}
          onClick={() => toggle('new')}
        >
          Add filter
        </Button>
      </EditorPopover>
    </div>
  )
}

function Words({ filter, groups }: { filter: Filter; groups: readonly string[] }) {
  if (filter.type === 'hogql') return <span className={`mono ${classes.subject}`}>{filter.key}</span>
  const kind = valueKind(filter.operator)
  const values = filter.value ?? []
  return (
    <>
      <span className={`mono ${classes.subject}`}>{subjectWords(filter, groups)}</span>{' '}
      <span className={classes.operator}>{operatorWords(filter.operator)}</span>
      {kind !== 'none' &&
        values.map((value, at) => (
          <Fragment key={value}>
            <span className={classes.operator}> {at === 0 ? '' : kind === 'range' ? 'and ' : 'or '}</span>
            <b className={classes.value}>{value}</b>
          </Fragment>
        ))}
    </>
  )
}

type PopoverProps = {
  isOpen: boolean
  onClose: () => void
  editor: () => ReactNode
  children: ReactNode
}

function EditorPopover({ isOpen, onClose, editor, children }: PopoverProps) {
  return (
    <Popover
      opened={isOpen}
      onChange={(isNow) => isNow || onClose()}
      position="bottom-start"
      trapFocus
      returnFocus
      width={320}
    >
      <Popover.Target>{children}</Popover.Target>
      <Popover.Dropdown aria-label="Filter">{isOpen && editor()}</Popover.Dropdown>
    </Popover>
  )
}
