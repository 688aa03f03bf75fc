// A tool for agents is a call of the API with a name, a description and a shape. It does nothing of its own: the call
// passes the same checks as one by HTTP.
import { z } from 'zod'
import type { Caller } from '../../platform/http/caller.ts'
import type { Route } from '../../platform/http/route.ts'
import { hasScope } from '../../platform/http/scopes.ts'
import { routes } from '../http.ts'

type Fields = Record<string, unknown>

/** What the API is asked. */
export type ToolRequest = { params: Record<string, string>; query: Record<string, string>; body: unknown }

export type Tool = {
  name: string
  title: string
  description: string
  route: Route
  input: z.ZodObject
  requestOf(fields: Fields): ToolRequest
}

type ToolSpec = {
  name: string
  title: string
  description: string
  /** Method and path, with the fields of the input that stand in it. */
  call: `${'GET' | 'POST' | 'PATCH'} /api/${string}/`
  /** Fields besides those of the path; they go into the query of a GET, else into the body. */
  fields?: z.ZodRawShape
  /** Where the body is not just those fields. */
  body?(fields: Fields): unknown
}

const PATH_FIELD = /:([a-z_]+)/g

/** Which project or organization is clear as a rule, and then need not be said. */
const PLACES: z.ZodRawShape = {
  project_id: z.coerce
    .string()
    .optional()
    .describe('Id of the project; the current project of the key without it.'),
  organization_id: z
    .string()
    .optional()
    .describe('Id of the organization; the current organization of the key without it.'),
}

export function tool(spec: ToolSpec): Tool {
  const { name, title, description, call, fields = {}, body = (rest: Fields) => rest } = spec
  const [method, path] = call.split(' ') as [Route['method'], string]
  const route = findRoute(method, path)
  const names = fieldsIn(path)
  const params = Object.fromEntries(
    names.map((field) => [field, PLACES[field] ?? z.coerce.string().min(1).describe(`Id, as listed.`)]),
  )
  return {
    name,
    title,
    description,
    route,
    input: z.object({ ...params, ...fields }),
    requestOf(given) {
      const rest = Object.fromEntries(Object.entries(given).filter(([field]) => !names.includes(field)))
      const isQuery = method === 'GET'
      return {
        params: Object.fromEntries(
          fieldsIn(route.path).map((param, n) => [param, textOf(given[names[n]!]) ?? '@current']),
        ),
        query: isQuery ? textsOf(rest) : {},
        body: isQuery ? undefined : body(rest),
      }
    },
  }
}

/** A key sees the tools that its scopes allow; what it may do with them where is decided by each call. */
export function isOffered({ route }: Tool, caller: Caller): boolean {
  if (caller.kind === 'session') return false
  return [route.scope ?? []].flat().some((scope) => hasScope(caller.key.scopes, scope))
}

export function isReading({ route }: Tool): boolean {
  return [route.scope ?? []].flat().every((scope) => scope.endsWith(':read'))
}

/** Fields of a path are named for agents, which see no path: `export_id`, where the API says `id`. */
function findRoute(method: Route['method'], path: string): Route {
  const shape = (text: string) => text.replace(PATH_FIELD, ':')
  const route = routes.find((each) => each.method === method && shape(each.path) === shape(path))
  if (!route) throw new Error(`a tool calls ${method} ${path}, which is no route`)
  return route
}

function fieldsIn(path: string): string[] {
  return [...path.matchAll(PATH_FIELD)].map(([, name]) => name!)
}

function textsOf(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, textOf(value)] as const)
      .filter((field): field is [string, string] => field[1] !== undefined),
  )
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
