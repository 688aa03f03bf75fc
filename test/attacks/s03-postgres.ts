// Names that would end a statement, in a PostgreSQL that an export really writes to.
import { expect } from 'vitest'
import { startPostgresServer, type PostgresStandIn } from '../stand-ins/postgres.ts'
import { attack, type Attack } from './attack.ts'
import type { Scene } from './scene.ts'

/** A name that the scene lets through to this machine. */
export const WAREHOUSE = 'warehouse.example'

const HOSTILE = [
  `x"; drop table kept; --`,
  `x'; drop table kept; --`,
  `x" (id int); drop table kept; create table "y`,
  'x\ny\t$$',
  String.raw`x\"; drop table kept; --`,
]
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

async function rowsIn({ admin }: PostgresStandIn, table: string): Promise<number> {
  const name = `"${table.replaceAll('"', '""')}"`
  const { rows } = await admin.query<{ count: string }>(`SELECT count(*) FROM public.${name}`)
  return Number(rows[0]!.count)
}

const written = attack<Scene>(
  'S3',
  'Postgres: runs into tables whose names end statements',
  async (scene) => {
    const { call, dns, home } = scene
    const { key } = home.owner
    const warehouse = await startPostgresServer()
    try {
      const { port } = await warehouse.openProxy()
      dns.setAddresses(WAREHOUSE, ['127.0.0.1'])
      await warehouse.admin.query('CREATE TABLE kept AS SELECT 1 AS n')
      await warehouse.admin.query(`GRANT ALL ON SCHEMA public TO ${warehouse.login.user}`)
      await warehouse.admin.query(`ALTER TABLE kept OWNER TO ${warehouse.login.user}`)
      const project = (await call('POST', '/api/projects/', { key, body: { name: 'Names' } })).body
      const event = {
        api_key: project.api_token,
        event: `'; drop table kept; --`,
        distinct_id: '"',
        timestamp: ago(3),
      }
      expect((await call('POST', '/capture/', { body: event })).status).toBe(200)
      const exports = `/api/projects/${project.id}/batch_exports/`
      for (const table_name of HOSTILE) {
        const config = { ...warehouse.login, host: WAREHOUSE, port, table_name }
        const body = { name: 'Names', interval: 'hour', destination: { type: 'Postgres', config } }
        const made = await call('POST', exports, { key, body })
        expect([table_name, made.status]).toEqual([table_name, 201])
        const range = { start_at: ago(5), end_at: ago(1) }
        await call('POST', `${exports}${made.body.id}/backfills/`, { key, body: range })
      }
      for (const table of HOSTILE) await expect.poll(() => rowsIn(warehouse, table).catch(() => 0)).toBe(1)
      expect(await rowsIn(warehouse, 'kept')).toBe(1)
      expect((await call('DELETE', `/api/projects/${project.id}/`, { key })).status).toBe(204)
    } finally {
      await warehouse.close()
    }
  },
)

export const attacks: Attack<Scene>[] = [written]
