// Which ClickHouse answers, and whether it is new enough.
import type { ClickHouse } from './client.ts'

const OLDEST = [25, 8] as const

/** `26.7.3.1`. Throws when it is older than we can work with, or does not answer. */
export async function readVersion(clickhouse: ClickHouse): Promise<string> {
  const [row] = await clickhouse.rows({ sql: 'SELECT version()', parameters: [] })
  const version = String(row?.[0])
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new Error(`ClickHouse ${version} is too old: ${OLDEST.join('.')} or newer is needed`)
  return version
}
