// The TXT values of a name, for domain verification. A name server that fails in whatever way is an answer
// without values: it must never become an error of ours.
import { Resolver } from 'node:dns/promises'
import { errorCode } from '../../lib/error-code.ts'

export type TxtAnswer = {
  /** One per record, its parts joined without a separator. */
  values: string[]
  /** Node's code of what went wrong (ENOTFOUND, ENODATA, ETIMEOUT, …), for the log; null if nothing did. */
  failure: string | null
}

export type TxtLookup = (name: string) => Promise<TxtAnswer>

export type TxtLookupOptions = {
  /** `ip` or `ip:port`; empty means the system's. */
  servers: readonly string[]
  /** For the whole lookup, however many servers and tries it takes. */
  timeout_ms: number
}

export function openTxtLookup({ servers, timeout_ms }: TxtLookupOptions): TxtLookup {
  return async (name) => {
    let timer: NodeJS.Timeout | undefined
    try {
      // A resolver of its own, because `cancel` ends every question of a resolver.
      const resolver = new Resolver({ timeout: Math.ceil(timeout_ms / 3), tries: 2 })
      if (servers.length > 0) resolver.setServers(servers)
      const timeUp = new Promise<TxtAnswer>((resolve) => {
        timer = setTimeout(() => {
          resolve({ values: [], failure: 'ETIMEOUT' })
          resolver.cancel()
        }, timeout_ms)
      })
      return await Promise.race([ask(resolver, name), timeUp])
    } catch (error) {
      return { values: [], failure: errorCode(error) || 'UNKNOWN' }
    } finally {
      clearTimeout(timer)
    }
  }
}

async function ask(resolver: Resolver, name: string): Promise<TxtAnswer> {
  const records = await resolver.resolveTxt(name)
  return { values: records.map((parts) => parts.join('')), failure: null }
}
