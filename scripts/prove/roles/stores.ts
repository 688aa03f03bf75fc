// The two stores that the processes share: a PostgreSQL that can be killed, and ClickHouse behind a door that can be shut.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { openDatabase, type Database } from '../../../src/platform/db/database.ts'
import { openEmbeddedPostgres } from '../../../src/platform/db/embedded/embedded.ts'
import { openClickHouse, type ClickHouse } from '../../../src/platform/event-store/clickhouse/client.ts'
import { openLog } from '../../../src/platform/log/log.ts'
import { postmasterOf } from '../../../test/end-to-end/program.ts'
import { makeClickHouseDatabase } from '../../../test/harness/clickhouse.ts'

export type Stores = {
  /** The prover's own ways in, which nothing disturbs but the restart of PostgreSQL. */
  db: Database
  clickhouse: ClickHouse
  /** How a process reaches them. PostgreSQL knows it by its name. */
  settingsOf(name: string): { DATABASE_URL: string; CLICKHOUSE_URL: string }
  /** Ends every connection to ClickHouse, wherever it is, and lets nobody in until it is opened. */
  shutClickHouse(): void
  openClickHouse(): void
  /** kill -9; it is there again within seconds. */
  killPostgres(): Promise<void>
  close(): Promise<void>
}

export async function openStores(dataDir: string): Promise<Stores> {
  const log = openLog({ level: 'error', format: 'json', to: { write: () => undefined } })
  // Nine processes have ten connections each and some more; nobody pulls the plug here.
  const settings = { max_connections: '300', fsync: 'off', full_page_writes: 'off' }
  const postgres = await openEmbeddedPostgres({ dataDir, log, role: 'server', settings })
  const { host, port, user, password, database } = postgres.connection
  const tables = await makeClickHouseDatabase()
  const door = await openDoor(new URL(tables.url))
  const db = openDatabase({ ...postgres.connection, max: 3 })
  const clickhouse = openClickHouse({ url: tables.url, cluster: null })
  return {
    db,
    clickhouse,
    settingsOf: (name) => ({
      DATABASE_URL: `postgres://${user}:${encodeURIComponent(String(password))}@/${database}?host=${encodeURIComponent(host)}&port=${port}&application_name=${name}`,
      CLICKHOUSE_URL: door.url,
    }),
    shutClickHouse: () => door.shut(),
    openClickHouse: () => door.open(),
    async killPostgres() {
      const pid = await postmasterOf(dataDir)
      if (pid !== null) process.kill(pid, 'SIGKILL')
    },
    async close() {
      await db.close()
      await clickhouse.close()
      await door.close()
      await tables.drop()
      await postgres.stop()
    },
  }
}

type Door = { url: string; shut(): void; open(): void; close(): Promise<void> }

async function openDoor(server_url: URL): Promise<Door> {
  const sockets = new Set<Socket>()
  let isShut = false
  const server = createServer((client) => {
    if (isShut) return client.destroy()
    const onward = connect(Number(server_url.port), server_url.hostname)
    const end = () => {
      client.destroy()
      onward.destroy()
      sockets.delete(client)
    }
    sockets.add(client)
    for (const socket of [client, onward]) socket.on('error', end).on('close', end)
    client.pipe(onward)
    onward.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(server_url)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const shut = () => {
    isShut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    shut,
    open: () => (isShut = false),
    async close() {
      shut()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
