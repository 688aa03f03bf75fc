// A text as bytes that are the same however it was escaped, with the place where each stands in the text: JSON, addresses,
// forms, HTML and XML write the same character in different ways, and no two writers escape the same ones.

export type PlainBytes = {
  bytes: Uint8Array
  /** Where what a byte stands for begins and ends in the text. */
  from: Uint32Array
  to: Uint32Array
}

const BACKSLASH = 0x5c
const PERCENT = 0x25
const AMPERSAND = 0x26
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos));/y
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const UNICODE_ESCAPE = /u([\da-fA-F]{4})(?:\\+u([dD][c-fC-F][\da-fA-F]{2}))?/y
const HEX_PAIR = /%([\da-fA-F]{2})/y

/**
 * Escapes are undone, letters of ASCII are small, `-` is `+` and `_` is `/` (base64 has two alphabets). Backslashes and line breaks
 * are left out: JSON within JSON has any number of the former, and long values are broken anywhere.
 */
export function plainBytes(text: string): PlainBytes {
  const writer = new Writer(text)
  while (writer.at < text.length) writer.step()
  return writer.end()
}

class Writer {
  at = 0
  /** Where backslashes began that stand before what comes next. */
  #lead = -1
  #count = 0
  readonly #bytes: Uint8Array
  readonly #from: Uint32Array
  readonly #to: Uint32Array

  constructor(private readonly text: string) {
    // No character takes more than four bytes, and an escaped one has more characters than bytes.
    // oxlint-disable-next-line no-control-regex -- ASCII is what is asked for.
    const size = /^[\x00-\x7f]*$/.test(text) ? text.length : 4 * text.length
    this.#bytes = new Uint8Array(size)
    this.#from = new Uint32Array(size)
    this.#to = new Uint32Array(size)
  }

  step(): void {
    const { text, at } = this
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) this.#backslashes()
    else if (isLineBreak(code)) this.at++
    else if (code === PERCENT) this.#byte(matchAt(HEX_PAIR, text, at))
    else if (code === AMPERSAND) this.#entity(matchAt(ENTITY, text, at))
    else if (code < 0x80) this.#ordinary()
    else this.#character(text.codePointAt(at)!, at, at + (code >= 0xd800 && code < 0xdc00 ? 2 : 1))
  }

  /** As many as there are: most texts have hardly anything else. */
  #ordinary(): void {
    const [text, bytes, from, to] = [this.text, this.#bytes, this.#from, this.#to]
    let { at } = this
    this.#put(text.charCodeAt(at), at, ++at)
    let count = this.#count
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code >= 0x80 || ORDINARY[code] === 0) break
      bytes[count] = FOLDED[code]!
      from[count] = at
      to[count++] = at + 1
    }
    this.#count = count
    this.at = at
  }

  end(): PlainBytes {
    const cut = <T extends Uint8Array | Uint32Array>(array: T) => array.subarray(0, this.#count) as T
    return { bytes: cut(this.#bytes), from: cut(this.#from), to: cut(this.#to) }
  }

  #backslashes(): void {
    const { text } = this
    if (this.#lead < 0) this.#lead = this.at
    while (text.charCodeAt(this.at) === BACKSLASH) this.at++
    const escape = matchAt(UNICODE_ESCAPE, text, this.at)
    if (!escape) return
    const [, first, second] = escape
    const units = [first!, ...(second ? [second] : [])].map((hex) => Number.parseInt(hex, 16))
    const end = this.at + escape[0].length
    this.#character(String.fromCharCode(...units).codePointAt(0)!, this.at, end)
  }

  /** `%2F`: a byte of UTF-8. */
  #byte(escape: RegExpExecArray | null): void {
    if (escape) this.#put(Number.parseInt(escape[1]!, 16), this.at, this.at + 3)
    else this.#put(PERCENT, this.at, this.at + 1)
  }

  #entity(escape: RegExpExecArray | null): void {
    if (!escape) return this.#put(AMPERSAND, this.at, this.at + 1)
    const [whole, decimal, hex, name] = escape
    const code = name ? NAMED[name]!.charCodeAt(0) : Number.parseInt(decimal ?? hex!, decimal ? 10 : 16)
    this.#character(Math.min(code, 0x10ffff), this.at, this.at + whole.length)
  }

  #character(code: number, from: number, to: number): void {
    if (code < 0x80) return this.#put(code, from, to)
    this.at = to
    if (isLineBreak(code)) return
    for (const byte of Buffer.from(String.fromCodePoint(code))) this.#put(byte, from, to)
  }

  #put(byte: number, from: number, to: number): void {
    this.at = to
    if (byte === BACKSLASH && this.#lead < 0) this.#lead = from
    // Escaped ones too.
    if (byte === BACKSLASH || isLineBreak(byte)) return
    this.#bytes[this.#count] = byte < 0x80 ? FOLDED[byte]! : byte
    this.#from[this.#count] = this.#lead < 0 ? from : this.#lead
    this.#to[this.#count++] = to
    this.#lead = -1
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x2028 || code === 0x2029
}

const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code).toLowerCase()
  return (char === '-' ? '+' : char === '_' ? '/' : char).charCodeAt(0)
})

/** Neither an escape nor the beginning of one. */
const ORDINARY = Uint8Array.from({ length: 128 }, (_, code) =>
  [BACKSLASH, PERCENT, AMPERSAND].includes(code) || isLineBreak(code) ? 0 : 1,
)
