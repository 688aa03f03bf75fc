// The limit beside it: a route that parses an event, appends it to a file and answers when the file is on the disk, one
// sync for all who wait.
import fastify from 'fastify'
import { fdatasync, openSync, writeSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

export async function runBareRoute(path: string): Promise<void> {
  const file = openSync(path, 'a')
  const sync = promisify(fdatasync)
  let waiting: Promise<void> | null = null
  let syncing = Promise.resolve()
  /** Who comes while a sync goes on shares the next. */
  const synced = () => {
    waiting ??= syncing.then(() => {
      waiting = null
      syncing = sync(file)
      return syncing
    })
    return waiting
  }
  const app = fastify()
  app.post('/i/v0/e/', async (request) => {
    writeSync(file, `${JSON.stringify(request.body)}\n`)
    await synced()
    return { status: 1 }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  process.on('message', () => process.exit(0))
  process.send!((app.server.address() as AddressInfo).port)
}
