// CSS-like selectors as regular expressions over a chain of elements. A chain names the clicked element first and its
// parents after it, `a.btn:attr_id="buy"href="/x"text="Buy";div:nth-child="1"`, so a selector is read backwards.
import type { Complain } from './condition.ts'
import { escapePattern } from './re2.ts'

type Attribute = { name: string; pattern: string }
type Compound = { tag: string; classes: string[]; attributes: Attribute[] }
type Step = Compound & {
  /** What stands between this one and the one before it: `>` or any distance. */
  is_child: boolean
}

const QUOTED = String.raw`"(?:\\.|[^"\\])*"`
const INSIDE_QUOTES = String.raw`(?:\\.|[^"\\])*`
const ANY_ELEMENT = `(?:[^;"]|${QUOTED})*`
const ANY_CLASSES = String.raw`(?:\.[^.;"=]+)*?`
const REST_OF_ELEMENT = `(?:[.:]${ANY_ELEMENT})?`
/** Attributes that a chain keeps under their own names; all others begin with `attr__`. */
const OWN_NAMES = new Set(['href', 'text', 'nth-child', 'nth-of-type'])
// Each order of the classes is a branch of its own.
const MAX_CLASSES = 4
const MAX_LENGTH = 1000
const MAX_STEPS = 20

const NAME = String.raw`(?:[\w-]|[^\x00-\x7f]|\\.)+`
const COMBINATOR = /\s*(>)\s*|\s+/y
const TAG = new RegExp(String.raw`(${NAME})|\*`, 'yu')
const PART = new RegExp(
  [
    String.raw`\.(?<class>${NAME})`,
    `#(?<id>${NAME})`,
    String.raw`\[\s*(?<attribute>[\w:-]+)\s*(?:(?<comparison>[*^$]?=)\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\]\s"']+))\s*)?\]`,
    String.raw`:(?<nth>nth-child|nth-of-type)\(\s*(?<number>\d+)\s*\)`,
  ].join('|'),
  'yu',
)

/** Matches chains that have an element of this tag. */
export function tagPattern(tag: string): string {
  return withElement(`${escapePattern(tag)}${REST_OF_ELEMENT}`)
}

/** Matches chains with an element that the selector describes. */
export function selectorPattern(selector: string, complain: Complain): string {
  if (selector.length > MAX_LENGTH) throw complain(`A selector has at most ${MAX_LENGTH} characters.`)
  const steps = readSelector(selector.trim(), complain)
  const [target, ...parents] = steps.toReversed()
  if (!target) throw complain('The selector is empty.')
  let pattern = elementPattern(target)
  let { is_child } = target
  for (const parent of parents) {
    pattern += is_child ? ';' : `;(?:${ANY_ELEMENT};)*?`
    pattern += elementPattern(parent)
    is_child = parent.is_child
  }
  return withElement(pattern)
}

/** From the start of the chain, because a `;` alone may stand inside quotes. */
function withElement(element: string): string {
  return `^(?:${ANY_ELEMENT};)*?(?:${element})(?:;|$)`
}

function readSelector(selector: string, complain: Complain): Step[] {
  const steps: Step[] = []
  let is_child = false
  for (let at = 0; at < selector.length;) {
    const { compound, end } = readCompound(selector, at)
    if (end === at)
      throw complain(
        'The selector cannot be read: use tags, .classes, #ids, [attributes], > and :nth-child().',
      )
    if (steps.length === MAX_STEPS) throw complain(`A selector has at most ${MAX_STEPS} elements.`)
    if (compound.classes.length > MAX_CLASSES)
      throw complain(`An element of a selector has at most ${MAX_CLASSES} classes.`)
    steps.push({ ...compound, is_child })
    const combinator = matchAt(COMBINATOR, selector, end)
    if (!combinator && end < selector.length) throw complain('The selector cannot be read after its start.')
    is_child = combinator?.[1] !== undefined
    at = end + (combinator?.[0].length ?? 0)
    if (is_child && at >= selector.length) throw complain('The selector ends in the middle.')
  }
  return steps
}

function readCompound(selector: string, start: number): { compound: Compound; end: number } {
  const tag = matchAt(TAG, selector, start)
  const compound: Compound = { tag: unescape(tag?.[1] ?? ''), classes: [], attributes: [] }
  let end = start + (tag?.[0].length ?? 0)
  for (let part = matchAt(PART, selector, end); part; part = matchAt(PART, selector, end)) {
    end += part[0].length
    const groups = part.groups!
    if (groups.class !== undefined) compound.classes.push(unescape(groups.class))
    else compound.attributes.push(attributeOf(groups))
  }
  return { compound, end }
}

function attributeOf(groups: Record<string, string | undefined>): Attribute {
  if (groups.id !== undefined) return { name: 'attr_id', pattern: quoted(unescape(groups.id)) }
  if (groups.nth !== undefined) return { name: groups.nth, pattern: groups.number! }
  const given = groups.attribute!
  const own = OWN_NAMES.has(given) ? given : `attr__${given}`
  const name = given === 'id' ? 'attr_id' : own
  const value = groups.double ?? groups.single ?? groups.bare
  if (value === undefined) return { name, pattern: INSIDE_QUOTES }
  const before = groups.comparison === '*=' || groups.comparison === '$=' ? INSIDE_QUOTES : ''
  const after = groups.comparison === '*=' || groups.comparison === '^=' ? INSIDE_QUOTES : ''
  return { name, pattern: `${before}${quoted(value)}${after}` }
}

function elementPattern({ tag, classes, attributes }: Compound): string {
  const name = tag === '' ? '[^.:;"]*' : escapePattern(tag)
  const orders = orderings(classes).map((order) =>
    order.map((each) => String.raw`${ANY_CLASSES}\.${escapePattern(each)}`).join(''),
  )
  const head = orders.length === 1 ? orders[0]! : `(?:${orders.join('|')})`
  if (attributes.length === 0) return `${name}${head}${REST_OF_ELEMENT}`
  // Attributes are written in the order of their names.
  const sorted = attributes.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const wanted = sorted.map((each) => `(?:[^;"=]*=${QUOTED})*?${escapePattern(each.name)}="${each.pattern}"`)
  return `${name}${head}${ANY_CLASSES}:${wanted.join('')}${ANY_ELEMENT}`
}

/** Text as a chain writes it between quotes, made a pattern. */
function quoted(text: string): string {
  return escapePattern(text.replaceAll('"', '\\"'))
}

function orderings(classes: readonly string[]): string[][] {
  if (classes.length < 2) return [[...classes]]
  return classes.flatMap((first, index) =>
    orderings(classes.toSpliced(index, 1)).map((others) => [first, ...others]),
  )
}

function unescape(name: string): string {
  return name.replaceAll(/\\(.)/gu, '$1')
}

function matchAt(expected: RegExp, text: string, at: number): RegExpExecArray | null {
  expected.lastIndex = at
  return expected.exec(text)
}
