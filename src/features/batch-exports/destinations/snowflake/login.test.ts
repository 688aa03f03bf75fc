// A server that takes connections and never answers.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import { snowflakeKind } from './kind.ts'
import { connect } from './session.ts'

it('a stop ends the login at once, with its reason', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const outbound = openOutbound({ allow: ['127.0.0.1'] })
  const config = snowflakeKind.config.parse({
    account: 'a',
    user: 'u',
    password: 'p',
    authentication_type: 'password',
    database: 'd',
    warehouse: 'w',
    schema: 's',
    table_name: 't',
  })
  const controller = new AbortController()
  const reason = new Error('cancelled')
  const came = once(server, 'connection')
  const session = connect(() => `http://127.0.0.1:${port}`, { config, outbound, signal: controller.signal })
  const outcome = session.catch((error: unknown) => error)
  const [socket] = await came
  controller.abort(reason)
  expect(await outcome).toBe(reason)
  socket.destroy()
  server.close()
  await outbound.close()
})
