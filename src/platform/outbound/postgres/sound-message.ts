// Messages of PostgreSQL's protocol, as servers of strangers send them. The driver takes for granted that they are well
// formed: an error without its end is read for ever, and a negative count throws where nobody catches it. So what it is
// given is looked at first: each part of a message ends within the message.

const AUTHENTICATION = { ok: 0, password: 3, md5: 5, sasl: 10, sasl_continue: 11, sasl_final: 12 }
const MD5_SALT_BYTES = 4
/** What describes a column, behind its name. */
const COLUMN_BYTES = 18

/** Reads a body from front to back. Once something lies beyond its end, `is_sound` is false for good. */
class Body {
  is_sound = true
  #at = 0

  constructor(private readonly bytes: Buffer) {}

  get left(): number {
    return this.bytes.length - this.#at
  }

  skip(count: number): void {
    if (count < 0 || count > this.left) this.is_sound = false
    else this.#at += count
  }

  byte(): number {
    this.skip(1)
    return this.is_sound ? this.bytes[this.#at - 1]! : 0
  }

  int16(): number {
    this.skip(2)
    return this.is_sound ? this.bytes.readInt16BE(this.#at - 2) : 0
  }

  int32(): number {
    this.skip(4)
    return this.is_sound ? this.bytes.readInt32BE(this.#at - 4) : 0
  }

  /** Its length. */
  text(): number {
    const end = this.bytes.indexOf(0, this.#at)
    const length = end - this.#at
    if (end === -1) this.is_sound = false
    else this.#at = end + 1
    return length
  }

  /** As many parts as a number before them says. */
  each(read: () => void): void {
    const count = this.int16()
    if (count < 0) this.is_sound = false
    for (let index = 0; index < count && this.is_sound; index++) read()
  }
}

const nothing = () => undefined
const command = (body: Body) => void body.text()
const copy = (body: Body) => {
  body.skip(1)
  body.each(() => body.skip(2))
}

/** Fields of a letter and a text, until a letter is zero. */
function report(body: Body): void {
  while (body.byte() !== 0) body.text()
}

function row(body: Body): void {
  body.each(() => {
    const length = body.int32()
    if (length !== -1) body.skip(length)
  })
}

function columns(body: Body): void {
  body.each(() => {
    body.text()
    body.skip(COLUMN_BYTES)
  })
}

function authentication(body: Body): void {
  const kind = body.int32()
  if (!Object.values(AUTHENTICATION).includes(kind)) body.is_sound = false
  if (kind === AUTHENTICATION.md5) body.skip(MD5_SALT_BYTES)
  if (kind === AUTHENTICATION.sasl) while (body.is_sound && body.text() > 0);
}

const READERS = new Map<string, (body: Body) => void>([
  ['R', authentication],
  ['E', report],
  ['N', report],
  ['D', row],
  ['T', columns],
  ['t', (body) => body.each(() => body.skip(4))],
  ['G', copy],
  ['H', copy],
  ['W', copy],
  ['C', command],
  ['A', (body) => [body.int32(), body.text(), body.text()]],
  ['S', (body) => [body.text(), body.text()]],
  ['K', (body) => body.skip(8)],
  ['Z', (body) => body.skip(1)],
  ...[...'123cdIns'].map((kind) => [kind, nothing] as const),
])

/** Whether the driver can be given it. */
export function isSound(kind: string, bytes: Buffer): boolean {
  const read = READERS.get(kind)
  const body = new Body(bytes)
  read?.(body)
  return read !== undefined && body.is_sound
}
