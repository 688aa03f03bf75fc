// The event in the hands of processEvent. What it changes is noted as it does so: the engine takes longer to write or
// compare a whole event than most apps take to work on it. For the same reason its fields and its properties are
// read only when the app looks at them; and the host, to which it costs nothing, tells whether there are objects to look
// into.

const { parse, stringify } = JSON
const { hasOwn, keys } = Object
const { isFinite } = Number
const { getTime } = Date.prototype
const {
  get,
  set,
  has,
  ownKeys,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  preventExtensions,
} = Reflect

type Fields = Record<string, unknown>
type Name = string | symbol

export class WatchedEvent {
  readonly event: unknown
  private readonly top: Watch
  private readonly properties: Watch

  constructor(fields: string, properties: string, isNested: boolean) {
    this.properties = new Watch(properties, isNested, {})
    this.top = new Watch(fields, isNested, { properties: this.properties.watched })
    this.event = this.top.watched
  }

  /** What became of it: what may have changed, or all of it when something else came back. */
  present(result: unknown): string {
    const { event, top, properties } = this
    const isWatched = result === event && top.fields.properties === properties.watched
    top.watched = properties.watched = null
    if (!isWatched) return stringify({ event: result ?? null, not_finite: notFiniteOf(result) })
    return `{"touched":{"top":${top.tell()},"properties":${properties.tell()}}}`
  }
}

/** Stands in for fields that nobody has looked at yet. Setting one, or taking one away, is no look. */
class Watch {
  /** Null in the end: it refers to us, and what goes round in a circle costs the engine a search through everything. */
  watched: Fields | null
  touched: Name[] = []
  private parsed: Fields | null = null
  private isTakenIn = false

  /** `fields` holds those that are not in the text. */
  constructor(
    private readonly text: string,
    private readonly isNested: boolean,
    readonly fields: Fields,
  ) {
    this.watched = new Proxy(fields, this)
  }

  private parse(): Fields {
    return (this.parsed ??= parse(this.text) as Fields)
  }

  /** From then on the engine looks by itself. */
  private takeIn(): void {
    const { fields, touched } = this
    const parsed = this.parse()
    for (const name of touched) delete parsed[name as string]
    Object.assign(fields, parsed)
    if (this.isNested) this.noteObjects(parsed)
    Object.assign(this, LOOKS)
    this.isTakenIn = true
  }

  /** A look at one of them does not take in all, unless it may change inside. */
  get(fields: Fields, name: Name, receiver: unknown): unknown {
    if (hasOwn(fields, name) || this.touched.includes(name)) return get(fields, name, receiver)
    if (this.isNested) this.takeIn()
    else {
      const parsed = this.parse()
      if (hasOwn(parsed, name)) return parsed[name as string]
    }
    return get(fields, name, receiver)
  }

  has(fields: Fields, name: Name): boolean {
    this.takeIn()
    return has(fields, name)
  }

  ownKeys(fields: Fields): Name[] {
    this.takeIn()
    return ownKeys(fields)
  }

  getOwnPropertyDescriptor(fields: Fields, name: Name): PropertyDescriptor | undefined {
    this.takeIn()
    return getOwnPropertyDescriptor(fields, name)
  }

  preventExtensions(fields: Fields): boolean {
    this.takeIn()
    return preventExtensions(fields)
  }

  set(fields: Fields, name: Name, value: unknown, receiver: unknown): boolean {
    if (receiver !== this.watched) return set(fields, name, value, receiver)
    this.note(name)
    return set(fields, name, value)
  }

  defineProperty(fields: Fields, name: Name, descriptor: PropertyDescriptor): boolean {
    if (!this.isTakenIn) this.takeIn()
    this.note(name)
    return defineProperty(fields, name, descriptor)
  }

  deleteProperty(fields: Fields, name: Name): boolean {
    this.note(name)
    return deleteProperty(fields, name)
  }

  private note(name: Name): void {
    if (!this.touched.includes(name)) this.touched.push(name)
  }

  /** Changes inside of them are not seen from here. */
  private noteObjects(parsed: Fields): void {
    for (const name in parsed) {
      const value = parsed[name]
      if (typeof value === 'object' && value !== null) this.note(name)
    }
  }

  /** As JSON. Put together by hand, which takes half the time. */
  tell(): string {
    const { touched, fields } = this
    if (touched.length === 0) return 'null'
    const now: Fields = Object.create(null)
    let gone: Name[] | undefined
    let not_finite: Name[] | undefined
    for (let at = 0; at < touched.length; at++) {
      const name = touched[at] as string
      const value = fields[name]
      if (value !== undefined && typeof value !== 'function') now[name] = value
      else (gone ??= []).push(name)
      if (isNotFinite(value)) (not_finite ??= []).push(name)
    }
    const rest = not_finite ? `,"not_finite":${stringify(not_finite)}` : ''
    return `{"now":${stringify(now)},"gone":${gone ? stringify(gone) : '[]'}${rest}}`
  }
}

/** JSON makes null of NaN, Infinity and invalid dates, as if the app had emptied the property. */
function isNotFinite(value: unknown): boolean {
  return typeof value === 'number'
    ? !isFinite(value)
    : value instanceof Date && !isFinite(getTime.call(value))
}

function notFiniteOf(event: unknown): string[] | undefined {
  const properties = (event as { properties?: unknown } | null | undefined)?.properties
  if (typeof properties !== 'object' || properties === null) return undefined
  const names = keys(properties).filter((name) => isNotFinite((properties as Fields)[name]))
  return names.length > 0 ? names : undefined
}

const LOOKS = {
  get: undefined,
  has: undefined,
  ownKeys: undefined,
  getOwnPropertyDescriptor: undefined,
  preventExtensions: undefined,
}
