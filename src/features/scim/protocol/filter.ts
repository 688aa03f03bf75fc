// Filters and paths (RFC 7644 §3.4.2.2 and §3.5.2): from text to a tree. Directories send short ones; what is longer, deeper or
// of more terms than any of them is refused before it costs anything.
import { refused } from './scim-error.ts'

/** `emails[…].value` has a filter as well, where paths may have one. */
export type Path = { schema: string | null; attribute: string; sub: string | null }

export const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Comparison = (typeof COMPARISONS)[number]
export type Compared = string | number | boolean | null

export type Filter =
  | { op: 'and' | 'or'; filters: Filter[] }
  | { op: 'not'; filter: Filter }
  | { op: 'some'; path: Path; filter: Filter }
  | { op: 'pr'; path: Path }
  | { op: Comparison; path: Path; value: Compared }

export type PatchPath = Path & { filter: Filter | null }

const MAX_LENGTH = 4_000
const MAX_TERMS = 60
const MAX_DEPTH = 12

// Strings, brackets, a sub-attribute behind `]`, and words: names with their URN, operators, numbers.
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|(\.[A-Za-z$][\w$-]*)|([\w$+:./%-]+))\s*/y
const NAME = /^[A-Za-z$][\w$-]*$/
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/
const CONSTANTS = new Map<string, Compared>([
  ['true', true],
  ['false', false],
  ['null', null],
])

export function parseFilter(text: string): Filter {
  const reader = new Reader(text, 'invalidFilter')
  const filter = reader.either(0)
  reader.end()
  return filter
}

export function parsePatchPath(text: string): PatchPath {
  const reader = new Reader(text, 'invalidPath')
  const path = parsePath(reader.word(), 'invalidPath')
  const filter = reader.take('[') ? reader.bracketed() : null
  const sub = filter ? reader.sub() : null
  reader.end()
  return { ...path, sub: sub ?? path.sub, filter }
}

/** `userName`, `name.givenName`, `urn:…:User:department`, `urn:…:User:manager.value`. */
export function parsePath(
  text: string,
  fault: 'invalidFilter' | 'invalidPath' | 'invalidValue' = 'invalidPath',
): Path {
  const isUrn = /^urn:/i.test(text)
  const cut = isUrn ? text.lastIndexOf(':') : -1
  const [attribute, sub, ...rest] = text.slice(cut + 1).split('.')
  const names = [attribute!, ...(sub === undefined ? [] : [sub])]
  if (rest.length > 0 || !names.every((name) => NAME.test(name)))
    throw refused(fault, `${shown(text)} is not the name of an attribute.`)
  return { schema: isUrn ? text.slice(0, cut) : null, attribute: attribute!, sub: sub ?? null }
}

/** How many comparisons it takes at most to try it on one thing. */
export function countTerms(filter: Filter | null): number {
  if (filter === null) return 1
  if (filter.op === 'and' || filter.op === 'or')
    return filter.filters.reduce((sum, each) => sum + countTerms(each), 0)
  return filter.op === 'not' || filter.op === 'some' ? countTerms(filter.filter) : 1
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

class Reader {
  readonly #tokens: string[] = []
  #at = 0
  #terms = 0

  constructor(
    text: string,
    private readonly fault: 'invalidFilter' | 'invalidPath',
  ) {
    if (text.length > MAX_LENGTH) throw refused(fault, `More than ${MAX_LENGTH} characters are not taken.`)
    TOKEN.lastIndex = 0
    while (TOKEN.lastIndex < text.length) {
      const start = TOKEN.lastIndex
      const found = TOKEN.exec(text)
      if (!found) throw refused(fault, `Cannot read ${shown(text.slice(start))}.`)
      this.#tokens.push(found[1] ?? found[2] ?? found[3] ?? found[4]!)
    }
  }

  take(token: string): boolean {
    if (this.#tokens[this.#at]?.toLowerCase() !== token) return false
    this.#at += 1
    return true
  }

  #next(): string {
    const token = this.#tokens[this.#at]
    if (token === undefined) throw refused(this.fault, 'It ends too early.')
    this.#at += 1
    return token
  }

  #expect(token: string): void {
    if (!this.take(token)) throw refused(this.fault, `${shown(token)} is missing.`)
  }

  word(): string {
    return this.#next()
  }

  sub(): string | null {
    return this.#tokens[this.#at]?.startsWith('.') ? this.#next().slice(1) : null
  }

  end(): void {
    const rest = this.#tokens[this.#at]
    if (rest !== undefined) throw refused(this.fault, `${shown(rest)} is not expected there.`)
  }

  either(depth: number): Filter {
    return this.#joined('or', depth, () => this.#joined('and', depth, () => this.#term(depth)))
  }

  #joined(op: 'and' | 'or', depth: number, read: () => Filter): Filter {
    if (depth > MAX_DEPTH) throw refused(this.fault, `It is nested more than ${MAX_DEPTH} levels deep.`)
    const filters = [read()]
    while (this.take(op)) filters.push(read())
    return filters.length === 1 ? filters[0]! : { op, filters }
  }

  #term(depth: number): Filter {
    this.#terms += 1
    if (this.#terms > MAX_TERMS) throw refused(this.fault, `It has more than ${MAX_TERMS} terms.`)
    if (this.take('(')) return this.#closed(')', depth)
    if (this.take('not')) {
      this.#expect('(')
      return { op: 'not', filter: this.#closed(')', depth) }
    }
    const path = parsePath(this.#next(), this.fault)
    if (this.take('[')) return this.#some(path, depth)
    return this.#comparison(path)
  }

  #closed(close: ')' | ']', depth: number): Filter {
    const filter = this.either(depth + 1)
    this.#expect(close)
    return filter
  }

  bracketed(): Filter {
    return this.#closed(']', 0)
  }

  /** `emails[type eq "work"].value co "@"` means one element that fulfils both. */
  #some(path: Path, depth: number): Filter {
    const filter = this.#closed(']', depth)
    const sub = this.sub()
    if (sub === null) return { op: 'some', path, filter }
    const compared = this.#comparison({ schema: null, attribute: sub, sub: null })
    return { op: 'some', path, filter: { op: 'and', filters: [filter, compared] } }
  }

  #comparison(path: Path): Filter {
    const op = this.#next().toLowerCase()
    if (op === 'pr') return { op, path }
    const comparison = COMPARISONS.find((known) => known === op)
    if (!comparison) throw refused(this.fault, `${shown(op)} is not an operator.`)
    return { op: comparison, path, value: this.#value() }
  }

  #value(): Compared {
    const token = this.#next()
    const constant = CONSTANTS.get(token.toLowerCase())
    if (constant !== undefined) return constant
    if (NUMBER.test(token)) return Number(token)
    if (!token.startsWith('"')) throw refused(this.fault, `${shown(token)} should stand in quotes.`)
    try {
      return JSON.parse(token) as string
    } catch {
      throw refused(this.fault, `${shown(token)} is not a JSON text.`)
    }
  }
}
