// Destinations that answer what none would: servers that users name may be anybody's.
import { expect } from 'vitest'
import { HOSTILE_ANSWERS, startHostilePostgres } from '../stand-ins/hostile-postgres.ts'
import { attackEach, type Attack } from './attack.ts'
import { WAREHOUSE } from './s03-postgres.ts'
import type { Scene } from './scene.ts'

export const attacks: Attack<Scene>[] = attackEach<Scene, string>(
  'S39',
  Object.keys(HOSTILE_ANSWERS),
  (name) => `a database that sends ${name}`,
  async ({ call, dns, exports, home, target }, name) => {
    const server = await startHostilePostgres()
    dns.setAddresses(WAREHOUSE, ['127.0.0.1'])
    server.use(name)
    const login = { user: 'a', password: 'planted b', database: 'c', host: WAREHOUSE, port: server.port }
    const destination = { type: 'Postgres', config: { ...login, table_name: 'events' } }
    const body = { interval: 'hour', name: 'Hostile', destination, step: 1 }
    const tested = await call('POST', `${exports}run_test_step_new/`, { key: home.owner.key, body })
    expect(tested).toMatchObject({ status: 200, body: { result: { status: 'Failed' } } })
    expect(process.kill(target.pid, 0)).toBe(true)
    await server.close()
  },
)
