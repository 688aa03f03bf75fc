// Which route a path belongs to: one entry per path, whatever its methods. It is built once per list of routes, because
// building it takes longer than the rest of the server.
import findMyWay from 'find-my-way'
import type { Route } from './route.ts'

/** The routes of one path, by method. */
export type Methods = ReadonlyMap<string, Route>

export type Found = { path: string; methods: Methods; params: Record<string, string> }

export const MAX_PARAM_LENGTH = 1000
const built = new WeakMap<readonly Route[], Router>()

export function routerOf(routes: readonly Route[]): Router {
  const router = built.get(routes) ?? new Router(routes)
  built.set(routes, router)
  return router
}

export class Router {
  readonly #byPath = new Map<string, Map<string, Route>>()
  readonly #paths = findMyWay({ ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH })

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const methods = this.#byPath.get(route.path) ?? new Map<string, Route>()
      if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is defined twice`)
      this.#byPath.set(route.path, methods.set(route.method, route))
    }
    // The package wants a method; every path is kept under the same one.
    for (const [path, methods] of this.#byPath) this.#paths.on('GET', path, ignore, { path, methods })
  }

  /** `url` as the client sent it, with or without a query. */
  find(url: string): Found | null {
    const end = url.indexOf('?')
    const found = this.#paths.find('GET', end === -1 ? url : url.slice(0, end))
    if (!found) return null
    const { path, methods } = found.store as { path: string; methods: Methods }
    return { path, methods, params: found.params as Record<string, string> }
  }

  methodsOf(path: string): Methods | undefined {
    return this.#byPath.get(path)
  }
}

function ignore(): void {}
