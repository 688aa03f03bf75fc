// The `sql` template: plain SQL in sight, every value a bound parameter, prepared under a stable name.

export type Statement = { text: string; values: unknown[]; name?: string }

class Fragment implements Statement {
  constructor(
    readonly text: string,
    readonly values: unknown[],
    readonly name?: string,
    readonly strings?: readonly string[],
  ) {}
}

// A template's strings array is one object per place in the source, so it can carry the finished text.
const prepared = new WeakMap<TemplateStringsArray, { text: string; name: string }>()
let preparedCount = 0

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  if (values.some((value) => value instanceof Fragment)) return compose(strings, values)
  let known = prepared.get(strings)
  if (!known) {
    known = { text: numbered(strings), name: `ls_${++preparedCount}` }
    prepared.set(strings, known)
  }
  return new Fragment(known.text, values, known.name, strings)
}

/** A composed statement whose text never varies, prepared as plain ones are: for what every request asks. */
export function preparedAs(name: string, { text, values }: Statement): Statement {
  return { text, values, name }
}

/** Fragments joined by a separator, e.g. the assignments of an UPDATE or the conditions of a WHERE. */
export function joinSql(fragments: Statement[], separator: ', ' | ' AND '): Statement {
  const strings = ['', ...fragments.slice(1).map(() => separator), '']
  return compose(strings, fragments)
}

/** `column = $n` for each given field; column names come from our own row types, never from a request. */
export function assignments(fields: Record<string, unknown>): Statement {
  const parts = Object.entries(fields).map(([column, value]) => {
    if (!/^[a-z][a-z0-9_]*$/.test(column)) throw new Error(`not a column name: ${column}`)
    return new Fragment(`${column} = $1`, [value], undefined, [`${column} = `, ''])
  })
  if (parts.length === 0) throw new Error('an UPDATE needs at least one column')
  return joinSql(parts, ', ')
}

function compose(strings: readonly string[], values: unknown[]): Statement {
  const flatStrings: string[] = [strings[0]!]
  const flatValues: unknown[] = []
  values.forEach((value, index) => {
    if (value instanceof Fragment) {
      const inner = value.strings!
      flatStrings[flatStrings.length - 1] += inner[0]!
      inner.slice(1).forEach((text) => flatStrings.push(text))
      flatValues.push(...value.values)
    } else {
      flatStrings.push('')
      flatValues.push(value)
    }
    flatStrings[flatStrings.length - 1] += strings[index + 1]!
  })
  return new Fragment(numbered(flatStrings), flatValues, undefined, flatStrings)
}

function numbered(strings: readonly string[]): string {
  return strings.reduce((text, part, index) => `${text}$${index}${part}`)
}
