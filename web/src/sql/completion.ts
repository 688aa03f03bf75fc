// Completion of HogQL: tables, columns, functions and words from the server's own list, properties and events as seen in
// the project.
import type {
  Completion,
  CompletionContext,
  CompletionResult,
  CompletionSource,
} from '@codemirror/autocomplete'
import type { EditorView } from '@codemirror/view'
import type { Schema } from '../api/client'
import { placeAt, tablesIn, type Place } from './place'

export type Language = Schema<'QueryLanguage'>

/** Whose properties, as the API's `type` and `group_type_index` say it. */
export type PropertyOwner = { type: 'event' | 'person' } | { type: 'group'; group_type_index: number }

export type Names = {
  language: () => Promise<Language>
  properties: (
    owner: PropertyOwner,
    typed: string,
  ) => Promise<readonly { name: string; detail: string | null }[]>
  events: (typed: string) => Promise<readonly string[]>
}

const WORD = /^[\w$]*$/
const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/

export function hogqlCompletion(names: Names): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const place = placeAt(context.state.sliceDoc(0, context.pos))
    if (place === null) return null
    if (place.kind === 'name' && place.typed === '' && !context.explicit) return null
    const options = await optionsAt(place, context.state.doc.toString(), names)
    if (options.length === 0 || context.aborted) return null
    const isText = place.kind === 'event' || (place.kind === 'property' && place.isQuoted)
    return {
      from: context.pos - place.typed.length,
      options,
      ...(isText ? { validFor: /^[^'\n]*$/ } : { validFor: WORD }),
    }
  }
}

export async function optionsAt(place: Place, text: string, names: Names): Promise<Completion[]> {
  if (place.kind === 'event')
    return (await names.events(place.typed)).map((label) => ({ label, apply: quoted(label) }))
  const language = await names.language()
  const tables = tablesIn(text, new Set(language.tables.map(({ name }) => name)))
  switch (place.kind) {
    case 'table':
      return language.tables.map(({ name, columns }) => ({
        label: name,
        detail: `${columns.length} columns`,
      }))
    case 'property':
      return propertiesOf(place, tables, names)
    case 'member':
      return membersOf(place.of, tables, language)
    case 'name':
      return [
        ...columnsOf([...new Set(tables.values())], language),
        ...[...tables.keys()].map((label) => ({ label, detail: 'table', boost: 1 })),
        ...functionsOf(language),
        ...wordsOf(language, place.typed),
      ]
  }
}

async function propertiesOf(
  { of, typed, isQuoted }: Place & { kind: 'property' },
  tables: ReadonlyMap<string, string>,
  names: Names,
) {
  const found = await names.properties(ownerOf(of, tables), typed)
  return found.map(({ name, detail }) => ({
    label: name,
    ...(detail === null ? {} : { detail: detail.toLowerCase() }),
    apply: isQuoted ? quoted(name) : PLAIN_NAME.test(name) ? name : `\`${name.replaceAll('`', '\\`')}\``,
  }))
}

function ownerOf(of: string | null, tables: ReadonlyMap<string, string>): PropertyOwner {
  const group = /^group_([0-4])$/.exec(of ?? '')
  if (group) return { type: 'group', group_type_index: Number(group[1]) }
  const table = of === null ? [...new Set(tables.values())][0] : tables.get(of)
  return { type: of === 'person' || table === 'persons' ? 'person' : 'event' }
}

/** Columns of that table, or those whose own name begins so: `person.created_at`. */
function membersOf(of: string, tables: ReadonlyMap<string, string>, language: Language): Completion[] {
  const table = tables.get(of)
  if (table !== undefined) return columnsOf([table], language)
  const asked = tables.size === 0 ? language.tables.map(({ name }) => name) : [...new Set(tables.values())]
  return columnsOf(asked, language)
    .filter(({ label }) => label.startsWith(`${of}.`))
    .map((option) => ({ ...option, label: option.label.slice(of.length + 1) }))
}

/** Columns of the tables that the query names; of `events` while it names none yet. */
function columnsOf(asked: readonly string[], { tables }: Language): Completion[] {
  const chosen = tables.filter(({ name }) => (asked.length === 0 ? name === 'events' : asked.includes(name)))
  const columns = new Map(chosen.flatMap((table) => table.columns.map(({ name, type }) => [name, type])))
  return [...columns].map(([label, detail]) => ({ label, detail, boost: 3 }))
}

function functionsOf({ functions }: Language): Completion[] {
  return functions.flatMap(({ name, aliases, kind, min_args, max_args, with_condition }) => {
    const detail = `${kind === 'scalar' ? 'function' : kind}, ${argumentsText(min_args, max_args)}`
    const apply = call(max_args === 0)
    return [name, ...aliases, ...(with_condition === null ? [] : [with_condition])].map((label) => ({
      label,
      detail,
      apply,
    }))
  })
}

function argumentsText(fewest: number, most: number | null): string {
  if (most === null) return fewest === 0 ? 'any values' : `${fewest} or more values`
  if (fewest === most) return most === 0 ? 'no value' : most === 1 ? '1 value' : `${most} values`
  return `${fewest} to ${most} values`
}

/** The cursor goes between the brackets, where something is to stand there. */
const call =
  (isEmpty: boolean) =>
  (view: EditorView, { label }: Completion, from: number, to: number) => {
    const hasBracket = view.state.sliceDoc(to, to + 1) === '('
    const insert = hasBracket ? label : `${label}()`
    const anchor = from + label.length + (isEmpty && !hasBracket ? 2 : 1)
    view.dispatch({ changes: { from, to, insert }, selection: { anchor }, userEvent: 'input.complete' })
  }

/** In the case that somebody types. */
function wordsOf({ keywords }: Language, typed: string): Completion[] {
  const isUpper = typed !== '' && typed === typed.toUpperCase() && /[A-Z]/.test(typed)
  return keywords.map((word) => ({ label: isUpper ? word.toUpperCase() : word, boost: -1 }))
}

const quoted = (text: string) => text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
