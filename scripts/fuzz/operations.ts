// The operations of the OpenAPI document, as the generators need them.
import { document } from '../../test/harness/contract.ts'
import type { Schema } from './values.ts'

export type Operation = {
  name: string
  method: string
  path: string
  query: { name: string; schema: Schema }[]
  body: Schema | null
}

type Documented = {
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
}

/** Directories speak a protocol of their own, and have a fuzz of their own (features/scim/fixture/fuzz.ts). */
const isOfDirectories = (path: string) => path.startsWith('/scim/')

export const operations: Operation[] = Object.entries(document.paths)
  .filter(([path]) => !isOfDirectories(path))
  .flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, unknown>).map(([method, described]) => {
      const { parameters = [], requestBody } = described as Documented
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        query: parameters.filter((each) => each.in === 'query'),
        body: requestBody?.content['application/json'].schema ?? null,
      }
    }),
  )
