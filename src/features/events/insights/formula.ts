// Formulas over series: numbers, letters, + - * / and brackets. Letters are the series in their order.
import { invalid } from '../../../platform/http/errors.ts'

/** Takes the values of the series at one place. */
export type Formula = (values: readonly number[]) => number

const TOKEN = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|([A-Za-z])(?![A-Za-z\d])|([-+*/()]))/y
const MOST_NESTED = 50

type Reading = { tokens: string[]; at: number; depth: number; series: number; attr: string }

export function readFormula(text: string, series: number, attr: string): Formula {
  const reading: Reading = { tokens: tokensOf(text.trim(), attr), at: 0, depth: 0, series, attr }
  const formula = sum(reading)
  if (reading.at < reading.tokens.length) throw fault(attr, reading.tokens[reading.at])
  return formula
}

function tokensOf(text: string, attr: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  for (let end = 0; end < text.length; end = TOKEN.lastIndex) {
    TOKEN.lastIndex = end
    const [, ...found] = TOKEN.exec(text) ?? []
    const token = found.find((each) => each !== undefined)
    if (token === undefined) throw fault(attr, text.slice(end, end + 20).trim())
    tokens.push(token)
  }
  return tokens
}

const fault = (attr: string, token: string | undefined) =>
  invalid(
    attr,
    'invalid_input',
    `The formula cannot be read ${token === undefined ? 'at its end' : `at "${token}"`}: use letters of series, numbers, + - * / and brackets.`,
  )

function sum(reading: Reading): Formula {
  let left = product(reading)
  for (let sign = take(reading, '+', '-'); sign; sign = take(reading, '+', '-')) {
    const [first, second, by] = [left, product(reading), sign === '+' ? 1 : -1]
    left = (values) => first(values) + by * second(values)
  }
  return left
}

function product(reading: Reading): Formula {
  let left = factor(reading)
  for (let sign = take(reading, '*', '/'); sign; sign = take(reading, '*', '/')) {
    const [first, second, is_product] = [left, factor(reading), sign === '*']
    left = (values) => (is_product ? first(values) * second(values) : divided(first(values), second(values)))
  }
  return left
}

/** A rate of nothing is nothing. */
const divided = (value: number, by: number) => (by === 0 ? 0 : value / by)

function factor(reading: Reading): Formula {
  const { tokens, attr } = reading
  const token = tokens[reading.at++]
  if (token === undefined) throw fault(attr, token)
  if (token === '-' || token === '+' || token === '(') {
    if (++reading.depth > MOST_NESTED) throw invalid(attr, 'invalid_input', 'The formula is nested too deep.')
    const inner = token === '(' ? sum(reading) : factor(reading)
    if (token === '(' && !take(reading, ')')) throw fault(attr, tokens[reading.at])
    reading.depth--
    return token === '-' ? (values) => -inner(values) : inner
  }
  if (/^[\d.]/.test(token)) return () => Number(token)
  const place = token.toUpperCase().charCodeAt(0) - 'A'.charCodeAt(0)
  if (!/^[A-Za-z]$/.test(token)) throw fault(attr, token)
  if (place >= reading.series)
    throw invalid(attr, 'invalid_input', `There is no series ${token.toUpperCase()}.`)
  return (values) => values[place] ?? 0
}

function take(reading: Reading, ...wanted: string[]): string | null {
  const token = reading.tokens[reading.at]
  if (token === undefined || !wanted.includes(token)) return null
  reading.at++
  return token
}
