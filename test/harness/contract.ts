// Holds every answer of the API against the OpenAPI document the server itself serves.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { apiDocument } from '../../src/app/document.ts'
import { ERROR_CODES } from '../../src/platform/http/error-codes.ts'

type Operation = {
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }>
}
type Document = { paths: Record<string, Record<string, Operation>> }

export const document = apiDocument() as unknown as Document

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addSchema(document, 'api')

const patterns = Object.keys(document.paths).map((path) => ({
  path,
  // Literal parts before parameters, so that /invites/bulk/ wins over /invites/{id}/.
  weight: path.split('{').length,
  pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+').replace(/\/$/, '/?')}$`),
}))
patterns.sort((a, b) => a.weight - b.weight)

const validators = new Map<string, ValidateFunction | null>()
/** By their text: many operations answer with the same shape. */
const compiled = new Map<string, ValidateFunction>()

/** Errors that no operation declares of its own: a wrong method, and faults of the server. */
const ANYWHERE = new Set([405, 500])

/** Throws when a status is not declared, or the body does not fit its schema. */
export function assertMatchesDocument(
  method: string,
  url: string,
  status: number,
  body: unknown,
  contentType: string,
): void {
  const path = url.split('?', 1)[0]!
  if (!path.startsWith('/api/') || path.startsWith('/api/schema')) return
  if (status >= 400) assertErrorShape(method, url, status, body)
  const match = patterns.find((candidate) => candidate.pattern.test(path))
  const operation =
    match && document.paths[match.path]![method.toLowerCase() === 'head' ? 'get' : method.toLowerCase()]
  if (!match || !operation || method === 'HEAD') return
  const key = operation.responses[status] ? String(status) : 'default'
  if (key === 'default' && !ANYWHERE.has(status))
    throw new Error(`${method} ${url} answered ${status}, which the document does not know`)
  // One of the shared errors, whose shape was just held against.
  if (operation.responses[key]!.$ref !== undefined) return
  const media = contentType.split(';', 1)[0]!
  if (body !== null && media !== 'application/json' && status < 400) {
    if (!operation.responses[key]!.content?.[media])
      throw new Error(`${method} ${url} answered ${media}, which the document does not know`)
    return
  }
  const validate = validatorFor(match.path, method.toLowerCase(), key, operation)
  if (validate === null) {
    if (body !== null)
      throw new Error(`${method} ${url} answered ${status} with a body where the document has none`)
  } else if (!validate(body)) {
    throw new Error(
      `${method} ${url} answered ${status} unlike the document: ${ajv.errorsText(validate.errors)}`,
    )
  }
}

function validatorFor(
  path: string,
  method: string,
  key: string,
  operation: Operation,
): ValidateFunction | null {
  const name = `${method} ${path} ${key}`
  const known = validators.get(name)
  if (known !== undefined) return known
  const schema = operation.responses[key]!.content?.['application/json']?.schema
  const validate = schema ? compile(JSON.stringify(schema)) : null
  validators.set(name, validate)
  return validate
}

function compile(text: string): ValidateFunction {
  const known = compiled.get(text)
  if (known) return known
  const validate = ajv.compile(JSON.parse(text.replaceAll('#/components', 'api#/components')) as object)
  compiled.set(text, validate)
  return validate
}

function assertErrorShape(method: string, url: string, status: number, body: unknown): void {
  const { type, code, detail, attr, ...rest } = (body ?? {}) as Record<string, unknown>
  const isShaped =
    typeof type === 'string' && typeof detail === 'string' && (attr === null || typeof attr === 'string')
  const known =
    typeof code === 'string' && code in ERROR_CODES
      ? ERROR_CODES[code as keyof typeof ERROR_CODES][0]
      : undefined
  const isHead = method === 'HEAD'
  if (!isHead && (!isShaped || known !== status || Object.keys(rest).some((key) => key !== 'extra'))) {
    throw new Error(
      `${method} ${url} answered ${status} with an error of another shape: ${JSON.stringify(body)}`,
    )
  }
}
