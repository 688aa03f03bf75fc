// What filters can be about, as groups of choices for a field that searches.
import type { Subject } from './filter'
import { subjectWords } from './operators'

export type Owner = { type: 'event' | 'person' | 'group'; group_type_index?: number }
export type Choice = { value: string; label: string }
export type Choices = { group: string; items: Choice[] }

const EVENT: readonly Subject[] = [
  { type: 'event_metadata', key: 'event' },
  { type: 'event_metadata', key: 'distinct_id' },
]
const CLICKED: readonly Subject[] = ['text', 'href', 'tag_name', 'selector'].map((key) => ({
  type: 'element',
  key,
}))
const SESSION: readonly Subject[] = [{ type: 'session', key: '$session_duration' }]
const EXPRESSION: Subject = { type: 'hogql', key: '' }

/** Whose properties there are; `groups` are the names of the types of groups. */
export function ownersOf(groups: readonly string[]): (Owner & { title: string })[] {
  return [
    { title: 'Properties of the event', type: 'event' },
    { title: 'Properties of the person', type: 'person' },
    ...groups.map((name, group_type_index) => ({
      title: `Properties of the ${name}`,
      type: 'group' as const,
      group_type_index,
    })),
  ]
}

type Asked = {
  groups: readonly string[]
  /** Names of properties, for each of `ownersOf`. */
  names: readonly (readonly string[])[]
  /** What was typed. */
  wanted: string
  chosen: Subject | null
}

export function subjectChoices({ groups, names, wanted, chosen }: Asked): Choices[] {
  const known: [string, readonly Subject[]][] = [
    ['Event', EVENT],
    ...ownersOf(groups).map(({ title, ...owner }, at): [string, Subject[]] => [
      title,
      (names[at] ?? []).map((key) => ({ ...owner, key })),
    ]),
    ['What was clicked', CLICKED],
    ['Session', SESSION],
  ]
  const listed = known.map(([group, subjects]) => ({
    group,
    items: subjects
      .filter((subject) => isFound(subject, groups, wanted))
      .map((subject) => choice(subject, groups)),
  }))
  const isListed = (value: string) => listed.some(({ items }) => items.some((item) => item.value === value))
  const typed: Subject[] =
    wanted === ''
      ? []
      : [
          { type: 'event', key: wanted },
          { type: 'person', key: wanted },
        ]
  const asTyped = typed.map((subject) => ({
    value: subjectValue(subject),
    label: `${subject.type === 'event' ? 'Event' : 'Person'} property ${wanted}`,
  }))
  // A field shows only what is among its choices.
  const kept = chosen === null || chosen.type === 'hogql' ? [] : [choice(chosen, groups)]
  const all = [
    ...listed,
    { group: 'Chosen', items: kept.filter(({ value }) => !isListed(value)) },
    { group: 'As typed', items: asTyped.filter(({ value }) => !isListed(value) && value !== kept[0]?.value) },
    { group: 'Anything else', items: [{ value: subjectValue(EXPRESSION), label: 'HogQL expression' }] },
  ]
  return all.filter(({ items }) => items.length > 0)
}

/** As a field holds it; all expressions are one choice. */
export function subjectValue({ type, key, group_type_index }: Subject): string {
  if (type === 'hogql') return JSON.stringify(EXPRESSION)
  return JSON.stringify({ type, key, ...(group_type_index === undefined ? {} : { group_type_index }) })
}

export const subjectOf = (value: string): Subject => JSON.parse(value) as Subject

export function subjectLabel(subject: Subject, groups: readonly string[]): string {
  return subject.type === 'hogql' ? 'HogQL expression' : subjectWords(subject, groups)
}

const choice = (subject: Subject, groups: readonly string[]): Choice => ({
  value: subjectValue(subject),
  label: subjectLabel(subject, groups),
})

function isFound(subject: Subject, groups: readonly string[], wanted: string): boolean {
  const text = subjectLabel(subject, groups).toLowerCase()
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
