// Reads the chain of page elements back: `a.button:href="/x"nth-child="1"…;div:…`, as pipeline/elements.ts and
// PostHog's own libraries write it. Chains come from the public, so any text gives an answer, in time linear to its length.

export type Element = {
  event: null
  text: string | null
  tag_name: string | null
  attr_class: string[] | null
  href: string | null
  attr_id: string | null
  nth_child: number | null
  nth_of_type: number | null
  attributes: Record<string, string>
  order: number
}

// A chain of `a;a;a;…` would grow a hundredfold on its way out; pages are not nested this deep.
const MAX_ELEMENTS = 1000
// What may follow the colon after tag and classes; a class may hold colons itself (`md:flex`).
const ATTRIBUTE_START = /attr__|[a-z0-9_-]*="/iy

export function parseElements(chain: string): Element[] {
  const elements: Element[] = []
  let at = 0
  while (at < chain.length && elements.length < MAX_ELEMENTS) {
    const head = readHead(chain, at)
    const tail = readAttributes(chain, head.end)
    at = tail.end + 1
    if (head.text !== '' || tail.attributes.size > 0) {
      elements.push(toElement(head.text, tail.attributes, elements.length))
    }
  }
  return elements
}

/** Tag and classes. `end` is at the first attribute, at the `;` that ends the element, or at the end of the chain. */
function readHead(chain: string, start: number): { text: string; end: number } {
  let at = start
  for (; at < chain.length && chain[at] !== ';'; at++) {
    if (chain[at] !== ':') continue
    ATTRIBUTE_START.lastIndex = at + 1
    if (ATTRIBUTE_START.test(chain)) return { text: chain.slice(start, at), end: at + 1 }
  }
  return { text: chain.slice(start, at).replace(/:$/, ''), end: at }
}

/** `end` is at the `;` that ends the element, or at the end of the chain. */
function readAttributes(chain: string, start: number): { attributes: Map<string, string>; end: number } {
  const attributes = new Map<string, string>()
  let at = start
  while (at < chain.length && chain[at] !== ';') {
    const opening = chain.indexOf('="', at)
    if (opening < 0) return { attributes, end: chain.length }
    const closing = closingQuote(chain, opening + 2)
    attributes.set(chain.slice(at, opening), chain.slice(opening + 2, closing).replaceAll('\\"', '"'))
    at = closing + 1
  }
  return { attributes, end: at }
}

/** A quote after a backslash belongs to the value. */
function closingQuote(chain: string, start: number): number {
  for (let at = chain.indexOf('"', start); at >= 0; at = chain.indexOf('"', at + 1)) {
    if (at === start || chain[at - 1] !== '\\') return at
  }
  return chain.length
}

function toElement(head: string, attributes: ReadonlyMap<string, string>, order: number): Element {
  const [tag = '', ...classes] = head.split('.').filter((part, index) => index === 0 || part !== '')
  const rest = new Map(attributes)
  const take = (name: string) => {
    const value = rest.get(name) ?? null
    rest.delete(name)
    return value
  }
  return {
    event: null,
    text: take('text'),
    tag_name: tag === '' ? null : tag,
    attr_class: classes.length > 0 ? classes : null,
    href: take('href'),
    attr_id: take('attr_id'),
    nth_child: count(take('nth-child')),
    nth_of_type: count(take('nth-of-type')),
    attributes: Object.fromEntries(rest),
    order,
  }
}

function count(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
}
