// What is stored, as one hash per table: equal before and after means that nothing was written.
import { jobs } from '../../src/app/jobs.ts'
import type { Database } from '../../src/platform/db/database.ts'

/** What any use of a key or session may write is left out. Only jobs that a request causes count. */
export async function hashTables(db: Database): Promise<Record<string, string>> {
  const tables = await db.pool.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  )
  const hashes = tables.rows.map(
    ({ name }) => `SELECT '${name}' AS name, string_agg(row::text, E'\\n' ORDER BY row::text) AS rows
      FROM (SELECT to_jsonb(t) - '{last_used_at,last_used_ip}'::text[] AS row FROM ${name} t) AS all_rows`,
  )
  const caused = jobs.filter((job) => job.cron === undefined).map((job) => job.name)
  hashes.push(`SELECT 'jobs', string_agg(id::text, ',' ORDER BY id) FROM pgboss.job WHERE name = ANY($1)`)
  const result = await db.pool.query<{ name: string; hash: string }>(
    `SELECT name, md5(coalesce(rows, '')) AS hash FROM (${hashes.join(' UNION ALL ')}) AS hashed`,
    [caused],
  )
  return Object.fromEntries(result.rows.map((row) => [row.name, row.hash]))
}
