// The small ways in which a file can be broken, one edit each. What nobody would test is left as it is: types, logging,
// texts for people, and limits whose exact value means nothing.
import { parseSync, Visitor } from 'rolldown/utils'
import { sqlEdits } from './sql-edits.ts'

/** Replaces a stretch of the text. */
export type Edit = { start: number; end: number; replacement: string }

export type Mutant = {
  file: string
  line: number
  before: string
  after: string
  /** The whole file with the edit. */
  mutated: string
}

type Span = { start: number; end: number }
type Tree = ReturnType<typeof parseSync>['program']

const SWAPPED: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
}
/** Numbers from here on are sizes and times, where one more or less is the same. */
const LARGE = 1000
const SQL = /\b(SELECT|WHERE|INSERT|UPDATE|DELETE)\b/

export function mutantsOf(file: string, text: string): Mutant[] {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]!.message}`)
  const closed = closedSpans(program)
  const isOpen = ({ start, end }: Edit) => !closed.some((span) => span.start <= start && end <= span.end)
  return editsOf(program, text)
    .filter(isOpen)
    .map(({ start, end, replacement }) => ({
      file,
      line: text.slice(0, start).split('\n').length,
      before: text.slice(start, end),
      after: replacement,
      mutated: text.slice(0, start) + replacement + text.slice(end),
    }))
    .filter(({ before, after }) => before !== after)
}

function editsOf(program: Tree, text: string): Edit[] {
  const edits: Edit[] = []
  const add = (span: Span, replacement: string) =>
    edits.push({ start: span.start, end: span.end, replacement })
  const negate = (test: Span & { type: string; operator?: string }) => {
    // Turned round by its own operator already.
    if (test.operator !== '===' && test.operator !== '!==')
      add(test, `!(${text.slice(test.start, test.end)})`)
  }
  const swap = ({ left, operator, right }: { left: Span; operator: string; right: Span }) => {
    const gap = { start: left.end, end: right.start }
    const swapped = SWAPPED[operator]
    if (swapped) add(gap, text.slice(gap.start, gap.end).replace(operator, swapped))
  }
  const sql_templates = new Set<number>()
  new Visitor({
    IfStatement(node) {
      negate(node.test)
      if (!node.alternate && isExit(node.consequent)) add(node, ';')
    },
    ConditionalExpression: (node) => negate(node.test),
    BinaryExpression(node) {
      if (node.operator !== '+' || !(isText(node.left) || isText(node.right))) swap(node)
    },
    LogicalExpression: swap,
    ExpressionStatement(node) {
      if (isRemovable(node, text)) add(node, ';')
    },
    Literal(node) {
      const { value } = node
      if (typeof value === 'boolean') add(node, String(!value))
      if (typeof value === 'number' && value < LARGE) add(node, String(value + 1))
      if (typeof value === 'string' && value !== '' && !value.includes(' ')) add(node, "''")
    },
    ArrayExpression(node) {
      if (node.elements.length > 0) add(node, '[]')
    },
    TaggedTemplateExpression(node) {
      if (node.tag.type === 'Identifier' && node.tag.name === 'sql') sql_templates.add(node.quasi.start)
    },
    TemplateLiteral(node) {
      const isSql = sql_templates.has(node.start) || SQL.test(text.slice(node.start, node.end))
      if (isSql) edits.push(...sqlEdits(text, node))
    },
  }).visit(program)
  return edits
}

/** Stretches that are no code of ours to break. */
function closedSpans(program: Tree): Span[] {
  const closed: Span[] = []
  const close = (node: Span) => void closed.push(node)
  new Visitor({
    ImportDeclaration: close,
    ExportAllDeclaration: close,
    TSTypeAnnotation: close,
    TSTypeAliasDeclaration: close,
    TSInterfaceDeclaration: close,
    TSTypeParameterInstantiation: close,
    TSLiteralType: close,
    Property: (node) => void (node.computed || close(node.key)),
  }).visit(program)
  return closed
}

/** A return, throw, continue or break, alone or at the end of a block. */
function isExit(node: { type: string; body?: unknown }): boolean {
  const last = Array.isArray(node.body) ? (node.body.at(-1) as { type: string } | undefined) : node
  return /^(Return|Throw|Continue|Break)Statement$/.test(last?.type ?? '')
}

function isText({ type, value }: { type: string; value?: unknown }): boolean {
  return type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string')
}

/** Calls and assignments; what only logs may be lost. */
function isRemovable(
  { expression, start, end }: Span & { expression: { type: string } },
  text: string,
): boolean {
  const code = text.slice(start, end)
  return (
    /^(Call|Await|Chain|Assignment|Update|Unary)Expression$/.test(expression.type) &&
    !/^super\(|\blog\b/.test(code)
  )
}
