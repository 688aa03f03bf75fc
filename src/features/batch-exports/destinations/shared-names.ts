// Whether the files of two exports could bear the same names: then each would overwrite the other's. Pure.
import type { Model } from '../definition.ts'

export type Named = {
  /** Where the names live: of another bucket they never meet. */
  place: string
  prefix: string
  model: Model
  batch_export_id: string
}

export function couldShareNames(one: Named, other: Named): boolean {
  if (one.place !== other.place) return false
  return foldersOf(one).some((folder) => foldersOf(other).some((another) => couldBeEqual(folder, another)))
}

/** A character, or `DIGIT` for any digit: all that a rendered prefix can be. */
type Pattern = readonly string[]

const DIGIT = 'digit'
const INSTANT = 'dddd-dd-ddTdd:dd:dd+00:00'
const DIGITS: Readonly<Record<string, string>> = {
  year: 'dddd',
  month: 'dd',
  day: 'dd',
  hour: 'dd',
  minute: 'dd',
  second: 'dd',
  data_interval_end: INSTANT,
}

/** A run from the beginning of time says START, hence two forms. */
function foldersOf({ prefix, model, batch_export_id }: Named): Pattern[] {
  const starts = prefix.includes('{data_interval_start}') ? [INSTANT, null] : [null]
  return starts.map((start) =>
    prefix
      .split(/(\{[a-z_]+\})/)
      .filter((part) => part !== '')
      .flatMap((part) => {
        const name = /^\{([a-z_]+)\}$/.exec(part)?.[1]
        if (name === undefined) return [...part]
        if (name === 'table') return [...model]
        if (name === 'export_id') return [...batch_export_id]
        if (name === 'data_interval_start' && start === null) return [...'START']
        return digits(DIGITS[name] ?? INSTANT)
      })
      .filter((character, index, all) => !isEmptySegment(character, index, all)),
  )
}

function digits(form: string): string[] {
  return [...form].map((character) => (character === 'd' ? DIGIT : character))
}

/** `a//b//` and `a/b` are one folder on a disk. */
function isEmptySegment(character: string, index: number, all: readonly string[]): boolean {
  const isSlash = (other: string | undefined) => other === '/'
  return isSlash(character) && (index === 0 || isSlash(all[index - 1]) || all.slice(index).every(isSlash))
}

function couldBeEqual(one: Pattern, other: Pattern): boolean {
  return (
    one.length === other.length &&
    one.every((character, index) => {
      const another = other[index]!
      if (character === another) return true
      const isDigit = (text: string) => text === DIGIT || /^\d$/.test(text)
      return (character === DIGIT || another === DIGIT) && isDigit(character) && isDigit(another)
    })
  )
}
