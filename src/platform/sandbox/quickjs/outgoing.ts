// What apps ask for that leaves this machine, or takes as long as if it did: read from what a guest wrote.
import { isObject } from '../../../lib/json-object.ts'
import type { HostRequest } from '../messages.ts'
import { parseUntrusted, readInteger, readText, Refusal } from './untrusted.ts'

const MAX_URL_LENGTH = 10_000
const MAX_BODY_LENGTH = 8 * 1024 * 1024
const MAX_PART_LENGTH = 10_000
/** PostgreSQL's protocol counts them in 16 bits. */
const MAX_VALUES = 65_535

type Reader = (...args: unknown[]) => HostRequest

/** Aborted when the call that wanted it ends, and counted among its requests. */
export const OUTGOING: Record<string, Reader> = {
  fetch(url, method, headers, body) {
    if (!isObject(headers)) throw new Refusal('headers are an object')
    const pairs = Object.entries(headers).map(([name, value]) => [name, readText(value)])
    return {
      op: 'fetch',
      url: readText(url, MAX_URL_LENGTH),
      method: readText(method, 20),
      headers: Object.fromEntries(pairs) as Record<string, string>,
      body: body === null ? null : readText(body, MAX_BODY_LENGTH),
    }
  },

  sqlOpen(address) {
    if (!isObject(address)) throw new Refusal('the address of a database is an object')
    const part = (name: string) =>
      address[name] === null
        ? null
        : readText(address[name], name === 'url' ? MAX_URL_LENGTH : MAX_PART_LENGTH)
    const [url, user, password] = [part('url'), part('user'), part('password')]
    const [host, database] = [part('host'), part('database')]
    const port = address.port === null ? null : readInteger(address.port)
    return {
      op: 'sqlOpen',
      address: { url, user, password, host, port, database, is_checked: address.is_checked !== false },
    }
  },

  sqlQuery(connection, values, text) {
    const given = parseUntrusted(readText(values, MAX_BODY_LENGTH))
    if (!Array.isArray(given)) throw new Refusal('values are a list')
    if (given.length > MAX_VALUES) throw new Refusal(`a query takes ${MAX_VALUES} values at most`)
    return {
      op: 'sqlQuery',
      connection: readInteger(connection),
      query: { text: readText(text, MAX_BODY_LENGTH), values: given },
    }
  },

  api: (method, path, body) => ({
    op: 'api',
    request: {
      method: readText(method, 20),
      path: readText(path, MAX_URL_LENGTH),
      body: body === null ? null : readText(body, MAX_BODY_LENGTH),
    },
  }),
}
