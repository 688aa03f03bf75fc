// Filters on what was clicked: tags, texts, links and selectors, looked for anywhere in an event's chain of elements.
import type { Expr } from '../../../hogql/ast.ts'
import { anyOf, call, constant, field } from '../tree.ts'
import {
  eventColumn,
  type Complain,
  type Condition,
  type FilterContext,
  type Subject,
  type Test,
} from './condition.ts'
import { selectorPattern, tagPattern } from './selector.ts'
import { textsOf } from './values.ts'

/** The name of one text of an element while all of them are gone through. */
const PART = 'part'

/** `tag_name` and `selector`: the whole chain matches or does not. */
export function chainCondition(key: 'tag_name' | 'selector', value: unknown, complain: Complain): Condition {
  const patterns = textsOf(value, complain).map((text) =>
    key === 'tag_name' ? tagPattern(text) : selectorPattern(text, complain),
  )
  return (context) => {
    const chain = eventColumn(context, 'elements_chain')
    const tests = patterns.map((pattern) => call('match', chain, constant(pattern)))
    return tests.length === 0 ? constant(false) : anyOf(...tests)
  }
}

/** `text` and `href`: some element has one that passes. */
export function someElement(key: 'text' | 'href', test: Test): Condition {
  return (context) => {
    const part: Subject = { expr: call('replaceAll', field(PART), constant('\\"'), constant('"')) }
    const lambda: Expr = { node: 'Lambda', args: [PART], expr: test(part, context) }
    return call('arrayExists', lambda, partsOf(key, context))
  }
}

function partsOf(key: 'text' | 'href', context: FilterContext): Expr {
  // The quote before the name ends another attribute's value, the colon the tag and its classes.
  const pattern = String.raw`(?:^|[":])${key}="((?:\\.|[^"\\])*)"`
  return call('extractAll', eventColumn(context, 'elements_chain'), constant(pattern))
}
