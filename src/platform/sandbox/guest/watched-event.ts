// The event in the hands of processEvent. What it changes is noted as it does so: the engine takes longer to write or
// compare a whole event than most apps take to work on it. For the same reason its properties are read only when the app
// looks at them, which many do not once they have seen the event's name; and the host, to which it costs nothing, tells
// whether there are objects to look into.

const { parse, stringify } = JSON
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
  private readonly properties: UnreadWatch

  constructor(fields: string, properties: string, isNested: boolean) {
    this.properties = new UnreadWatch(properties, isNested)
    this.top = new Watch(parse(fields) as Fields)
    if (isNested) this.top.noteObjects()
    this.top.fields.properties = this.properties.watched
    this.event = this.top.watched
  }

  /** What became of it: what may have changed, or all of it when something else came back. */
  present(result: unknown): string {
    const { event, top, properties } = this
    const isWatched = result === event && top.fields.properties === properties.watched
    top.watched = properties.watched = null
    if (!isWatched) return stringify({ event: result ?? null })
    return `{"touched":{"top":${top.tell()},"properties":${properties.tell()}}}`
  }
}

/** Stands in for `fields` and forwards everything to them. */
class Watch {
  /** Null in the end: it refers to us, and what goes round in a circle costs the engine a search through everything. */
  watched: Fields | null
  touched: Name[] = []

  constructor(readonly fields: Fields) {
    this.watched = new Proxy(fields, this)
  }

  set(fields: Fields, name: Name, value: unknown, receiver: unknown): boolean {
    if (receiver !== this.watched) return set(fields, name, value, receiver)
    this.note(name)
    return set(fields, name, value)
  }

  defineProperty(fields: Fields, name: Name, descriptor: PropertyDescriptor): boolean {
    this.note(name)
    return defineProperty(fields, name, descriptor)
  }

  deleteProperty(fields: Fields, name: Name): boolean {
    this.note(name)
    return deleteProperty(fields, name)
  }

  note(name: Name): void {
    if (!this.touched.includes(name)) this.touched.push(name)
  }

  /** Changes inside of them are not seen from here. */
  noteObjects(): void {
    for (const name in this.fields) {
      const value = this.fields[name]
      if (typeof value === 'object' && value !== null) this.note(name)
    }
  }

  /** As JSON. Put together by hand, which takes half the time. */
  tell(): string {
    const { touched, fields } = this
    if (touched.length === 0) return 'null'
    const now: Fields = Object.create(null)
    let gone: Name[] | undefined
    for (let at = 0; at < touched.length; at++) {
      const name = touched[at] as string
      const value = fields[name]
      if (value !== undefined && typeof value !== 'function') now[name] = value
      else (gone ??= []).push(name)
    }
    return `{"now":${stringify(now)},"gone":${gone ? stringify(gone) : '[]'}}`
  }
}

/** Fields that nobody has looked at yet. Setting one, or taking one away, is no look. */
class UnreadWatch extends Watch {
  constructor(
    private text: string,
    private readonly isNested: boolean,
  ) {
    super({})
  }

  /** From then on the engine looks by itself. */
  private read(): void {
    const { text, fields, touched } = this
    const all = parse(text) as Fields
    for (const name of touched) delete all[name as string]
    Object.assign(fields, all)
    if (this.isNested) this.noteObjects()
    Object.assign(this, LOOKS)
    this.text = ''
  }

  get(fields: Fields, name: Name, receiver: unknown): unknown {
    this.read()
    return get(fields, name, receiver)
  }

  has(fields: Fields, name: Name): boolean {
    this.read()
    return has(fields, name)
  }

  ownKeys(fields: Fields): Name[] {
    this.read()
    return ownKeys(fields)
  }

  getOwnPropertyDescriptor(fields: Fields, name: Name): PropertyDescriptor | undefined {
    this.read()
    return getOwnPropertyDescriptor(fields, name)
  }

  preventExtensions(fields: Fields): boolean {
    this.read()
    return preventExtensions(fields)
  }

  override defineProperty(fields: Fields, name: Name, descriptor: PropertyDescriptor): boolean {
    if (this.text !== '') this.read()
    return super.defineProperty(fields, name, descriptor)
  }
}

const LOOKS = {
  get: undefined,
  has: undefined,
  ownKeys: undefined,
  getOwnPropertyDescriptor: undefined,
  preventExtensions: undefined,
}
