// Whole requests: an operation of the document, an address, a credential, headers and a body, each good or bad.
import fc, { type Arbitrary } from 'fast-check'
import { METHODS } from 'node:http'
import { goodId, goodQuery, oddSlashes, pathOf, wildId, wildQuery } from './addresses.ts'
import { bombs } from './bombs.ts'
import { captureOperations, captureRequest } from './capture.ts'
import { goodQueryBody, isAboutEvents, wildEventQuery, wildQueryBody } from './event-queries.ts'
import { goodExportBody, isAboutExports, wildExportBody } from './exports.ts'
import {
  idempotencyKey,
  keyOf,
  oddHeaders,
  pendingOf,
  sessionOf,
  wildCredential,
  type Headers,
} from './headers.ts'
import { operations, type Operation } from './operations.ts'
import { goodPluginBody, isAboutPlugins, wildPluginBody } from './plugins.ts'
import { anyJson, anyOf, broken, mostly, rawPayload, valid, type Source } from './values.ts'
import type { World } from './world.ts'

export type FuzzRequest = {
  operation: string
  side: 'home' | 'all'
  method: string
  url: string
  headers: Record<string, string>
  payload?: string | Buffer
}

// What ends a whole organization, account, membership, session or token would soon leave nothing to play with.
const RARE =
  /^(DELETE \/api\/organizations\/\{id\}\/|DELETE .*\/(members|projects|users)\/\{\w+\}\/$|POST \/api\/logout\/|PATCH .*\/reset_token\/)/

// What takes a language of its own is asked more often.
const RICH = /^(GET .*\/events\/|POST .*\/query\/)$/

/** Requests to the operations whose names fit: good ones of the owner at home, and wild ones of anybody to anything. */
export function requests(world: World, only: RegExp): Arbitrary<FuzzRequest> {
  const [home, all] = [
    { world, side: world.home },
    { world, side: world.all },
  ]
  const documented = operations.map((operation) => ({
    name: operation.name,
    weight: weightOf(operation),
    arbitrary: fc.oneof(goodRequest(home, operation), wildRequest(all, operation)),
  }))
  const asking = operations.filter(isQuestion).map((operation) => ({
    name: operation.name,
    weight: isAboutPlugins(operation) ? 1 : isAboutExports(operation) ? 4 : 12,
    arbitrary: askingRequest(home, operation),
  }))
  const capturing = captureOperations.map((name) => ({
    name,
    weight: 12,
    arbitrary: captureRequest(world, name),
  }))
  const choices = [...documented, ...asking, ...capturing, ...bombs(world)].filter(({ name }) =>
    only.test(name),
  )
  return fc.oneof(...choices)
}

const isQuestion = (operation: Operation) =>
  isAboutExports(operation) || isAboutPlugins(operation)
    ? operation.body !== null || operation.query.length > 0
    : isAboutEvents(operation) && !operation.path.endsWith('{id}/')

/** Wild questions about events, and wild wishes for exports, from somebody who may have them: they are read to the end. */
function askingRequest(source: Source, operation: Operation): Arbitrary<FuzzRequest> {
  const noBody = fc.constant<Body>({ headers: {} })
  const accept = fc.constantFrom('text/csv', 'text/csv;q=x', '*/*').map((type): Headers => ({ accept: type }))
  return assemble(operation, 'home', {
    method: fc.constant(operation.method),
    path: pathOf(operation.path, (kind) => goodId(source, operation, kind)),
    query: isAboutEvents(operation) ? wildEventQuery(source, operation) : wildQuery(source, operation),
    credential: keyOf(source.side),
    headers: mostly(4, fc.constant({}), accept),
    body: operation.body === null ? noBody : brokenBody(source, operation).map(asJson),
  })
}

function weightOf(operation: Operation): number {
  const { name } = operation
  if (RARE.test(name)) return 1
  // They are many, but for the most part the same under other names.
  if (isAboutPlugins(operation)) return 4
  return RICH.test(name) ? 24 : 8
}

/**
 * The schema of a question says nothing about its language, that of an export nothing about its destination, and that of
 * a plugin nothing about its code.
 */
function goodBody(source: Source, operation: Operation): Arbitrary<unknown> {
  if (operation.path.endsWith('/query/')) return goodQueryBody(source)
  if (isAboutPlugins(operation)) return goodPluginBody(source, operation)
  return isAboutExports(operation) ? goodExportBody(source, operation) : valid(source, operation.body!)
}

function brokenBody(source: Source, operation: Operation): Arbitrary<unknown> {
  if (operation.path.endsWith('/query/')) return wildQueryBody(source)
  const anyhow = broken(source, operation.body!)
  if (isAboutPlugins(operation)) return fc.oneof(wildPluginBody(source, operation), anyhow)
  return isAboutExports(operation) ? fc.oneof(wildExportBody(source, operation), anyhow) : anyhow
}

function goodRequest(source: Source, operation: Operation): Arbitrary<FuzzRequest> {
  const body =
    operation.body === null ? fc.constant<Body>({ headers: {} }) : goodBody(source, operation).map(asJson)
  return assemble(operation, 'home', {
    method: fc.constant(operation.method),
    path: pathOf(operation.path, (kind) => goodId(source, operation, kind)),
    query:
      isAboutEvents(operation) || isAboutExports(operation) || operation.path.includes('/app_metrics/')
        ? goodQuery(source, operation)
        : mostly(2, fc.constant(''), goodQuery(source, operation)),
    credential: goodCredential(source, operation),
    headers: mostly(9, fc.constant({}), idempotencyKey),
    body,
  })
}

function goodCredential({ world, side }: Source, { path }: Operation): Arbitrary<Headers> {
  if (path === '/api/login/token/') return pendingOf(world)
  // To somebody who is signed in an invite to another address is of no use.
  return path.startsWith('/api/signup/{') ? fc.constant({}) : fc.oneof(keyOf(side), sessionOf(side))
}

function wildRequest(source: Source, operation: Operation): Arbitrary<FuzzRequest> {
  const { side } = source
  return assemble(operation, 'all', {
    method: mostly(
      9,
      fc.constant(operation.method),
      fc.constantFrom(...METHODS.filter((method) => method !== 'CONNECT')),
    ),
    path: pathOf(operation.path, (kind) => wildId(side, kind)).chain(oddSlashes),
    query: wildQuery(source, operation),
    credential: wildCredential(side),
    headers: mostly(3, fc.constant({}), oddHeaders(side)),
    body: wildBody(source, operation),
  })
}

type Body = { payload?: string | Buffer; headers: Headers }
type Parts = {
  method: string
  path: string
  query: string
  credential: Headers
  headers: Headers
  body: Body
}

function assemble(
  operation: Operation,
  side: 'home' | 'all',
  parts: { [Part in keyof Parts]: Arbitrary<Parts[Part]> },
) {
  return fc.record(parts).map(({ method, path, query, credential, headers, body }): FuzzRequest => ({
    operation: operation.name,
    side,
    method,
    url: path + (query === '' ? '' : `?${query}`),
    headers: { host: 'longshore.test', ...credential, ...body.headers, ...headers },
    ...(body.payload === undefined ? {} : { payload: body.payload }),
  }))
}

const JSON_TYPE: Headers = { 'content-type': 'application/json' }

function asJson(value: unknown): Body {
  return { payload: JSON.stringify(value) ?? '', headers: JSON_TYPE }
}

function asForm(value: unknown): Body {
  const fields = Object.entries(value ?? {}).map(([name, each]): [string, string] => [
    name,
    typeof each === 'string' ? each : JSON.stringify(each),
  ])
  return {
    payload: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }
}

function wildBody(source: Source, operation: Operation): Arbitrary<Body> {
  const { body, method } = operation
  const none = fc.constant<Body>({ headers: {} })
  const raw = rawPayload.map((payload): Body => ({ payload, headers: JSON_TYPE }))
  const anything = fc.oneof(anyJson.map(asJson), raw)
  if (body === null) return mostly(method === 'GET' ? 20 : 8, none, anything)
  const good = goodBody(source, operation)
  const someKey = fc.oneof(
    anyOf(() => source.side.keys),
    fc.constantFrom<unknown>('phx_wrong', 7, null),
  )
  const withKey = fc
    .tuple(good, someKey)
    .map(([value, personal_api_key]) => asJson({ ...(value as object), personal_api_key }))
  return fc.oneof(
    { weight: 6, arbitrary: good.map(asJson) },
    { weight: 12, arbitrary: brokenBody(source, operation).map(asJson) },
    { weight: 4, arbitrary: anything },
    { weight: 1, arbitrary: good.map(asForm) },
    { weight: 1, arbitrary: withKey },
    { weight: 1, arbitrary: none },
  )
}
