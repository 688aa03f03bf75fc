// What the addresses of these pages may hold. Anything else in them is dropped. Pure.

export type ListSearch = { q?: string; state?: ListFilter }
export type NewSearch = { step?: Step }
export type ExportSearch = {
  /** The run whose details are open. */
  run?: string
  /** Filters of the runs. */
  status?: string
  since?: string
  /** A range, on the proof and for a backfill. */
  from?: string
  to?: string
  /** Filters of the log. Its range may be relative: `-24h`. */
  after?: string
  before?: string
  level?: string
  text?: string
  live?: false
  /** Whether a backfill is being asked for. */
  ask?: 'backfill' | 'repair'
}

export const LIST_FILTERS = ['all', 'attention', 'paused'] as const
export type ListFilter = (typeof LIST_FILTERS)[number]

export const STEPS = ['destination', 'connection', 'rows', 'layout', 'schedule', 'create'] as const
export type Step = (typeof STEPS)[number]

export const TABS = ['runs', 'proof', 'backfills', 'logs', 'settings', 'activity'] as const
export type Tab = (typeof TABS)[number]
export const isTab = (text: string): text is Tab => (TABS as readonly string[]).includes(text)

type Given = Record<string, unknown>

export function listSearch(given: Given): ListSearch {
  return { ...textIn(given, 'q'), ...choiceIn(given, 'state', LIST_FILTERS) }
}

export function newSearch(given: Given): NewSearch {
  return choiceIn(given, 'step', STEPS)
}

export function exportSearch(given: Given): ExportSearch {
  return {
    ...textIn(given, 'run'),
    ...textIn(given, 'status'),
    ...textIn(given, 'since'),
    ...instantIn(given, 'from'),
    ...instantIn(given, 'to'),
    ...textIn(given, 'after'),
    ...textIn(given, 'before'),
    ...textIn(given, 'level'),
    ...textIn(given, 'text'),
    ...(given.live === false ? { live: false as const } : {}),
    ...choiceIn(given, 'ask', ['backfill', 'repair'] as const),
  }
}

function textIn<Name extends string>(given: Given, name: Name): Partial<Record<Name, string>> {
  const value = given[name]
  // The router reads numbers where it can.
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text !== '' ? ({ [name]: text } as Partial<Record<Name, string>>) : {}
}

function choiceIn<Name extends string, Choice extends string>(
  given: Given,
  name: Name,
  choices: readonly Choice[],
): Partial<Record<Name, Choice>> {
  const found = choices.find((choice) => choice === given[name])
  return found === undefined ? {} : ({ [name]: found } as Partial<Record<Name, Choice>>)
}

function instantIn<Name extends string>(given: Given, name: Name): Partial<Record<Name, string>> {
  const value = given[name]
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
    ? ({ [name]: value } as Partial<Record<Name, string>>)
    : {}
}
