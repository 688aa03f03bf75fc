// Stores on other machines that are reached without encryption, or without asking who they are: whoever is on the way reads
// the password and all that is stored.
import pg from 'pg'
import type { Config } from './config.ts'

const LOCAL = /^(?:\/.*|localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/

/** As the driver has read the address; its types know no more than yes and no of `ssl`. */
type Target = { host: string; ssl: boolean | { rejectUnauthorized?: boolean } }

/** A sentence for each. */
export function plainStores({
  DATABASE_URL,
  CLICKHOUSE_URL,
}: Pick<Config, 'DATABASE_URL' | 'CLICKHOUSE_URL'>): string[] {
  const found: string[] = []
  if (DATABASE_URL !== null) {
    const { host, ssl } = new pg.Client({ connectionString: DATABASE_URL }) as unknown as Target
    const isChecked = ssl === true || (typeof ssl === 'object' && ssl.rejectUnauthorized !== false)
    if (!LOCAL.test(host) && !isChecked)
      found.push(
        `DATABASE_URL leads to ${host} ${ssl ? 'without checking its certificate' : 'without TLS'}: add ?sslmode=verify-full`,
      )
  }
  if (CLICKHOUSE_URL !== null) {
    const { hostname, protocol } = new URL(CLICKHOUSE_URL)
    if (!LOCAL.test(hostname) && protocol === 'http:')
      found.push(
        `CLICKHOUSE_URL leads to ${hostname} without TLS: use https, if it is not on a network of your own`,
      )
  }
  return found
}
