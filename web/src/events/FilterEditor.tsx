// One filter being made or changed: what it is about, how it compares, with what.
import { Button, Select, Stack, Textarea } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import type { Filter, Operator, Subject } from './filter'
import { operatorsFor, operatorWords, problemOf, valueKind } from './operators'
import { SubjectPicker } from './SubjectPicker'
import { ValueInput } from './ValueInput'

export type EditorProps = {
  projectId: string
  /** Names of the types of groups, by index. */
  groups: readonly string[]
  initial: Filter | null
  onApply: (filter: Filter) => void
}

export function FilterEditor({ projectId, groups, initial, onApply }: EditorProps) {
  const [subject, setSubject] = useState<Subject | null>(initial)
  const [operator, setOperator] = useState<Operator>(initial?.operator ?? 'exact')
  const [value, setValue] = useState<readonly string[]>(initial?.value ?? [])
  const [problem, setProblem] = useState<string | null>(null)

  const about = (next: Subject) => {
    const offered = operatorsFor(next).flatMap(({ operators }) => operators)
    setSubject(next)
    if (!offered.includes(operator)) setOperator(offered[0] ?? 'exact')
    if (next.key !== subject?.key || next.type !== subject.type) setValue([])
  }
  const compare = (next: Operator) => {
    if (valueKind(next) !== valueKind(operator))
      setValue(valueKind(next) === 'range' ? [] : value.slice(0, 1))
    setOperator(next)
    setProblem(null)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    event.stopPropagation()
    if (subject === null) return
    const isWithValue = subject.type !== 'hogql' && valueKind(operator) !== 'none'
    const filter: Filter = {
      type: subject.type,
      key: subject.key.trim(),
      operator: subject.type === 'hogql' ? 'exact' : operator,
      ...(isWithValue ? { value: value.map((each) => each.trim()).filter((each) => each !== '') } : {}),
      ...(subject.group_type_index === undefined ? {} : { group_type_index: subject.group_type_index }),
    }
    const found = filter.key === '' ? 'An expression is missing.' : problemOf(filter)
    setProblem(found)
    if (found === null) onApply(filter)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <SubjectPicker projectId={projectId} groups={groups} value={subject} onChange={about} />
        {subject?.type === 'hogql' && (
          <Textarea
            label="HogQL expression that must hold"
            className="mono"
            autosize
            minRows={2}
            value={subject.key}
            onChange={(event) => setSubject({ type: 'hogql', key: event.currentTarget.value })}
            error={problem}
            data-autofocus
          />
        )}
        {subject !== null && subject.type !== 'hogql' && (
          <>
            <Select
              label="Comparison"
              data={operatorsFor(subject).map(({ group, operators }) => ({
                group,
                items: operators.map((each) => ({ value: each, label: operatorWords(each) })),
              }))}
              value={operator}
              onChange={(next) => next !== null && compare(next as Operator)}
              allowDeselect={false}
              comboboxProps={{ withinPortal: false }}
            />
            <ValueInput
              projectId={projectId}
              subject={subject}
              kind={valueKind(operator)}
              value={value}
              onChange={setValue}
              problem={problem}
              isFirst={initial !== null}
            />
          </>
        )}
        <Button type="submit" disabled={subject === null}>
          Apply filter
        </Button>
      </Stack>
    </form>
  )
}
