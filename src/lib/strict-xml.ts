// XML that strangers send, read strictly into a plain tree. Everything is bounded while it is read, and nothing is guessed:
// no DTD, hence no entities but the five that every document has; no instructions, no CDATA, comments only on request.

export type XmlElement = {
  /** '' where there is none. */
  namespace: string
  /** Without its prefix. */
  name: string
  /** By name as written, prefix included; declarations of namespaces are left out. */
  attributes: ReadonlyMap<string, string>
  children: readonly XmlElement[]
  /** Characters directly inside, those of children left out. */
  text: string
  /** As it was written. */
  source: { start_tag: string; from: number; to: number }
}

export type XmlBounds = { max_bytes: number; max_elements: number; has_comments: boolean }

/** The message is a sentence for whoever made the document. */
export class XmlFault extends Error {
  override readonly name = 'XmlFault'
}

const MAX_DEPTH = 32
const MAX_ATTRIBUTES = 32

const DECLARATION = /^<\?xml\s[^<>?]*\?>/
const NOT_A_CHARACTER = /(?![\t\n\r\x7f-\x9f])[\p{Cc}\p{Cs}\ufffe\uffff]/u
// Alternatives begin with different characters, so that a mismatch is found in one pass.
const TAG =
  /<(?:\/([^\s<>"'/=]+)\s*|([^\s<>"'/=]+)((?:\s+[^\s<>"'/=]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?))>/y
const ATTRIBUTE = /\s+([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const NAME = /^(?:([\p{L}_][\p{L}\p{N}._-]*):)?([\p{L}_][\p{L}\p{N}._-]*)$/u
const REFERENCE = /&([^;\s&]{0,10});|&/g
const ENTITIES = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])
const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'

/** What a prefix means, looked up outwards. */
type Scope = { own: ReadonlyMap<string, string>; outer: Scope | null }
type Open = { tag: string; element: XmlElement & { children: XmlElement[] }; scope: Scope }

/** As XML means it: line ends are one character. Where elements begin and end is counted in this text. */
export function normalXml(source: string): string {
  return source.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
}

export function parseXml(source: string, bounds: XmlBounds): XmlElement {
  if (Buffer.byteLength(source) > bounds.max_bytes)
    throw new XmlFault(`It is larger than ${Math.floor(bounds.max_bytes / 1024)} KB.`)
  const text = normalXml(source)
  if (NOT_A_CHARACTER.test(text)) throw new XmlFault('It holds characters that XML does not allow.')
  const reader = new TreeReader(bounds)
  let at = DECLARATION.exec(text)?.[0].length ?? 0
  while (at < text.length) {
    const next = text.indexOf('<', at)
    reader.addText(text.slice(at, next === -1 ? undefined : next))
    if (next === -1) break
    at = isMarkup(text, next) ? afterMarkup(text, next, bounds) : reader.readTag(text, next)
  }
  return reader.end()
}

function isMarkup(text: string, at: number): boolean {
  return text[at + 1] === '!' || text[at + 1] === '?'
}

/** Behind a comment, the one thing of this kind that may be allowed. */
function afterMarkup(text: string, at: number, { has_comments }: XmlBounds): number {
  if (!text.startsWith('<!--', at))
    throw new XmlFault('It holds a DTD, an instruction or a CDATA section, which are not accepted.')
  if (!has_comments) throw new XmlFault('It holds a comment, which is not accepted.')
  const end = text.indexOf('-->', at + 4)
  if (end === -1) throw new XmlFault('A comment in it has no end.')
  return end + 3
}

class TreeReader {
  private readonly open: Open[] = []
  private root: XmlElement | null = null
  private count = 0

  constructor(private readonly bounds: XmlBounds) {}

  addText(raw: string): void {
    const inside = this.open.at(-1)
    if (inside) inside.element.text += unescape(raw)
    else if (raw.trim() !== '') throw new XmlFault('It has text outside of its one element.')
  }

  /** Returns where the tag ends. */
  readTag(text: string, at: number): number {
    TAG.lastIndex = at
    const match = TAG.exec(text)
    if (!match) throw new XmlFault('It is not well-formed XML.')
    const [whole, closed, opened, attributes, slash] = match
    if (closed !== undefined) this.close(closed, at + whole.length)
    else {
      this.add(opened!, attributes!, { start_tag: whole, from: at, to: at + whole.length })
      if (slash === '/') this.close(opened!, at + whole.length)
    }
    return at + whole.length
  }

  end(): XmlElement {
    if (this.open.length > 0 || !this.root) throw new XmlFault('It is not well-formed XML.')
    return this.root
  }

  private close(tag: string, to: number): void {
    const closed = this.open.pop()
    if (closed?.tag !== tag) throw new XmlFault('It is not well-formed XML.')
    closed.element.source.to = to
  }

  private add(tag: string, written: string, source: XmlElement['source']): void {
    const parent = this.open.at(-1)
    if (!parent && this.root) throw new XmlFault('It has more than one element at the top.')
    if (++this.count > this.bounds.max_elements || this.open.length >= MAX_DEPTH)
      throw new XmlFault('It has too many elements, or they are nested too deeply.')
    const { attributes, declared } = readAttributes(written)
    const scope = { own: declared, outer: parent?.scope ?? null }
    const [prefix, name] = splitName(tag)
    const element = { namespace: meaningOf(prefix, scope), name, attributes, children: [], text: '', source }
    if (parent) parent.element.children.push(element)
    else this.root = element
    this.open.push({ tag, element, scope })
  }
}

function readAttributes(written: string) {
  const attributes = new Map<string, string>()
  const declared = new Map<string, string>()
  for (const [, name, double, single] of written.matchAll(ATTRIBUTE)) {
    const value = unescape((double ?? single)!.replace(/[\t\n]/g, ' '))
    const [prefix, local] = splitName(name!)
    const isDeclaration = prefix === 'xmlns' || name === 'xmlns'
    const [into, key] = isDeclaration ? [declared, prefix === 'xmlns' ? local : ''] : [attributes, name!]
    if (into.has(key)) throw new XmlFault('An element has the same attribute twice.')
    if (isDeclaration && (key === 'xml' || key === 'xmlns'))
      throw new XmlFault('It redefines a prefix of XML.')
    into.set(key, value)
    if (attributes.size + declared.size > MAX_ATTRIBUTES)
      throw new XmlFault('An element has too many attributes.')
  }
  return { attributes, declared }
}

function splitName(name: string): [prefix: string, local: string] {
  const match = NAME.exec(name)
  if (!match) throw new XmlFault('It is not well-formed XML.')
  return [match[1] ?? '', match[2]!]
}

function meaningOf(prefix: string, innermost: Scope): string {
  if (prefix === 'xml') return XML_NAMESPACE
  for (let scope: Scope | null = innermost; scope; scope = scope.outer) {
    const namespace = scope.own.get(prefix)
    if (namespace !== undefined) return namespace
  }
  if (prefix !== '') throw new XmlFault('It uses a prefix that it does not declare.')
  return ''
}

function unescape(raw: string): string {
  if (!raw.includes('&')) return raw
  return raw.replace(REFERENCE, (_, name: string | undefined) => {
    const character = name?.startsWith('#') ? numbered(name.slice(1)) : ENTITIES.get(name ?? '')
    if (character === undefined) throw new XmlFault('It uses an entity that XML does not define.')
    return character
  })
}

function numbered(digits: string): string | undefined {
  const code = /^x[0-9a-f]+$/i.test(digits)
    ? Number.parseInt(digits.slice(1), 16)
    : /^\d+$/.test(digits)
      ? Number(digits)
      : Number.NaN
  if (!(code <= 0x10ffff)) return undefined
  const character = String.fromCodePoint(code)
  return NOT_A_CHARACTER.test(character) ? undefined : character
}

/** The element itself and everything inside it. */
export function* everyElement(element: XmlElement): Generator<XmlElement> {
  yield element
  for (const child of element.children) yield* everyElement(child)
}

export function childrenOf(element: XmlElement | undefined, namespace: string, name: string): XmlElement[] {
  return (element?.children ?? []).filter((child) => child.namespace === namespace && child.name === name)
}
