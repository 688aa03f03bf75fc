// From a schema's findings to the API's error: first problem only, in the order of the fields.
import type { z } from 'zod'
import { attrOf } from './body.ts'
import type { ErrorCode } from './error-codes.ts'
import { invalid, type ApiError } from './errors.ts'

export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw firstProblem(result.error.issues[0]!, value)
}

/** Where a schema says itself what it is that is missing. */
const isOwnWord = (issue: z.core.$ZodIssue) =>
  issue.code === 'custom' && issue.params?.['code'] === 'required'

const UUID_FORMATS: ReadonlySet<string> = new Set(['uuid', 'guid'])

function firstProblem(issue: z.core.$ZodIssue, root: unknown): ApiError {
  const { code, detail } = explain(issue, valueAt(root, issue.path))
  return invalid(attrOf(issue.path), code, detail)
}

function explain(issue: z.core.$ZodIssue, value: unknown): { code: ErrorCode; detail: string } {
  if (issue.path.length > 0 && value === undefined)
    return { code: 'required', detail: isOwnWord(issue) ? issue.message : 'This field is missing.' }
  if (issue.path.length > 0 && value === null) return { code: 'null', detail: 'This field cannot be null.' }
  switch (issue.code) {
    case 'too_big':
      return tooBig(issue)
    case 'too_small':
      return tooSmall(issue, value)
    case 'invalid_value':
      return {
        code: 'invalid_choice',
        detail: `Choose one of: ${issue.values.map((v) => JSON.stringify(v)).join(', ')}.`,
      }
    case 'invalid_type':
      if (issue.expected === 'array') return { code: 'not_a_list', detail: 'A list is expected here.' }
      return { code: 'invalid_input', detail: `Expected ${article(issue.expected)} here.` }
    case 'invalid_format':
      if (UUID_FORMATS.has(issue.format)) return { code: 'invalid_input', detail: 'A UUID is expected here.' }
      return { code: 'invalid_input', detail: 'This value is not valid.' }
    case 'custom':
      return { code: issue.params?.['code'] ?? 'invalid_input', detail: issue.message }
    default:
      return { code: 'invalid_input', detail: 'This value is not valid.' }
  }
}

function tooBig(issue: z.core.$ZodIssueTooBig): { code: ErrorCode; detail: string } {
  const limit = String(issue.maximum)
  if (issue.origin === 'string')
    return { code: 'max_length', detail: `At most ${limit} characters are allowed.` }
  if (issue.origin === 'array') return { code: 'max_length', detail: `At most ${limit} entries are allowed.` }
  return { code: 'max_value', detail: `The largest value allowed is ${limit}.` }
}

function tooSmall(issue: z.core.$ZodIssueTooSmall, value: unknown): { code: ErrorCode; detail: string } {
  const limit = String(issue.minimum)
  if (issue.origin === 'array' && limit === '1') return { code: 'empty', detail: 'The list cannot be empty.' }
  if (issue.origin === 'array') return { code: 'min_length', detail: `At least ${limit} entries are needed.` }
  if (issue.origin !== 'string')
    return { code: 'min_value', detail: `The smallest value allowed is ${limit}.` }
  if (typeof value === 'string' && value.trim() === '')
    return { code: 'blank', detail: 'This field cannot be blank.' }
  return { code: 'min_length', detail: `At least ${limit} characters are needed.` }
}

function article(expected: string): string {
  const names: Record<string, string> = { int: 'a whole number', object: 'an object', record: 'an object' }
  return names[expected] ?? `a ${expected}`
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.hasOwn(value, key) ? (value as Record<PropertyKey, unknown>)[key] : undefined
  }
  return value
}
