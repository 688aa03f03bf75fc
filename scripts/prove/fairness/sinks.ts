// Destinations that work at first and then do not: a table that somebody locks, an endpoint that falls silent, a database
// whose port is closed. All on loopback.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startPostgresServer, type PostgresStandIn } from '../../../test/stand-ins/postgres.ts'

export type Sink = { what: string; destination: { type: string; config: Record<string, unknown> } }

export type Sinks = {
  /** A table, an endpoint and a database. */
  few: readonly Sink[]
  /** Hosts of their own, all of them the endpoint. */
  many(count: number): readonly Sink[]
  fail(): Promise<void>
  close(): Promise<void>
}

const TABLE = 'locked'

export async function openSinks(): Promise<Sinks> {
  const warehouse = await startPostgresServer()
  await warehouse.admin.query(
    `GRANT CREATE ON SCHEMA public TO PUBLIC;
     CREATE TABLE public.${TABLE} (uuid text, event text, properties jsonb, timestamp timestamptz);
     ALTER TABLE public.${TABLE} OWNER TO ${warehouse.login.user}`,
  )
  const [kept, closed] = [await warehouse.openProxy(), await warehouse.openProxy()]
  const endpoint = await startEndpoint()
  const lock = lockOf(warehouse)
  return {
    few: [
      { what: 'a locked table', destination: tableAt(warehouse, kept.port, TABLE) },
      { what: 'a silent endpoint', destination: endpoint.at('127.0.0.2') },
      { what: 'a closed port', destination: tableAt(warehouse, closed.port, 'unreachable') },
    ],
    many: (count) =>
      Array.from({ length: count }, (_, index) => ({
        what: `a silent host, number ${index + 1}`,
        destination: endpoint.at(`127.0.1.${index + 1}`),
      })),
    async fail() {
      await lock.take()
      endpoint.fallSilent()
      await closed.close()
    },
    async close() {
      await lock.release()
      endpoint.close()
      await kept.close()
      await warehouse.close()
    },
  }
}

function tableAt({ login }: PostgresStandIn, port: number, table_name: string): Sink['destination'] {
  return { type: 'Postgres', config: { ...login, host: '127.0.0.1', port, schema: 'public', table_name } }
}

/** As somebody at a console has it who went for lunch. */
function lockOf({ admin }: PostgresStandIn) {
  let release = async () => {}
  return {
    async take() {
      const client = await admin.connect()
      await client.query(`BEGIN; LOCK TABLE public.${TABLE}`)
      release = async () => client.release(true)
    },
    release: () => release(),
  }
}

async function startEndpoint() {
  let is_silent = false
  const server = createServer((request, response) => {
    request.resume().on('end', () => void (is_silent || response.end()))
  })
  await once(server.listen(0, '0.0.0.0'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    at: (host: string) => ({
      type: 'HTTP',
      config: { url: `http://${host}:${port}/`, token: 'phc_of_the_sink' },
    }),
    fallSilent: () => void (is_silent = true),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
