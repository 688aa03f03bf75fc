// The event in the hands of processEvent. What it changes is noted as it does so: the engine takes longer to write or
// compare a whole event than most apps take to work on it. For the same reason nothing is made anew for each event that
// can be used again. An app that still holds an earlier event can only have some more fields looked at.

const { parse, stringify } = JSON
const { set, defineProperty, deleteProperty } = Reflect
const UNTOUCHED = '{"touched":{}}'

type Fields = Record<string, unknown>
type Name = string | symbol

export class WatchedEvent {
  private readonly top = new Watch()
  private readonly properties = new Watch()

  /** What the app gets. `isFlat`: no field holds an object, apart from the properties, and none of them does. */
  start(text: string, isFlat: boolean): unknown {
    const event = parse(text) as Fields & { properties: Fields }
    event.properties = this.properties.start(event.properties)
    const watched = this.top.start(event)
    if (!isFlat) {
      this.properties.noteObjects()
      this.top.noteObjects('properties')
    }
    return watched
  }

  isEvent(result: unknown): boolean {
    return result === this.top.watched
  }

  /** What became of it: what may have changed, or all of it when something else came back. */
  present(result: unknown): string {
    const { top, properties } = this
    const isWatched = result === top.watched && top.fields.properties === properties.watched
    if (!isWatched) return stringify({ event: result ?? null })
    if (top.touched.length === 0 && properties.touched.length === 0) return UNTOUCHED
    return stringify({ touched: { top: top.tell(), properties: properties.tell() } })
  }
}

/** Stands in for `fields` and forwards everything to them. */
class Watch {
  fields: Fields = {}
  watched: Fields = {}
  touched: Name[] = []

  start(fields: Fields): Fields {
    this.fields = fields
    if (this.touched.length > 0) this.touched = []
    return (this.watched = new Proxy(fields, this))
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

  private note(name: Name): void {
    if (!this.touched.includes(name)) this.touched.push(name)
  }

  /** Changes inside of them are not seen from here. */
  noteObjects(except?: string): void {
    for (const name in this.fields) {
      const value = this.fields[name]
      if (typeof value === 'object' && value !== null && name !== except) this.note(name)
    }
  }

  tell(): { now: Fields; gone: Name[] | undefined } | undefined {
    const { touched, fields } = this
    if (touched.length === 0) return undefined
    const now: Fields = Object.create(null)
    let gone: Name[] | undefined
    for (let at = 0; at < touched.length; at++) {
      const name = touched[at] as string
      const value = fields[name]
      if (value !== undefined && typeof value !== 'function') now[name] = value
      else (gone ??= []).push(name)
    }
    return { now, gone }
  }
}
