// Servers that call themselves PostgreSQL and are not: whatever they send, the client fails and the process goes on.
import { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  HOSTILE_ANSWERS,
  startHostilePostgres,
  type HostilePostgres,
} from '../../../../test/stand-ins/hostile-postgres.ts'
import { clientOfStranger } from './client.ts'
import { MessageGuard } from './message-guard.ts'
import { isSound } from './sound-message.ts'

let server: HostilePostgres
beforeAll(async () => {
  server = await startHostilePostgres()
})
afterAll(() => server.close())

it.each(Object.keys(HOSTILE_ANSWERS))('fails over %s', async (name) => {
  server.use(name)
  const socket = new Socket()
  const login = { host: '127.0.0.1', port: server.port, user: 'a', password: 'b', database: 'c', ssl: false }
  const client = clientOfStranger({ ...login, socket, max_answer_bytes: 1024 * 1024 })
  const asked = async () => {
    await client.connect()
    await client.query('SELECT 1')
  }
  await expect(asked()).rejects.toBeInstanceOf(Error)
  await expect.poll(() => socket.destroyed).toBe(true)
  // The last chunk may come in whole.
  expect(socket.bytesRead).toBeLessThan(2 * 1024 * 1024)
})

describe('what is handed on', () => {
  const ready = Buffer.from('Z\0\0\0\x05I')
  const command = Buffer.from('C\0\0\0\x0cCOMMIT\0\0')

  it('is whole messages, however they are cut', () => {
    const all = Buffer.concat([command, ready, command])
    for (let size = 1; size <= all.length; size++) {
      const guard = new MessageGuard(1000)
      const taken: Buffer[] = []
      for (let at = 0; at < all.length; at += size) {
        const messages = guard.take(all.subarray(at, at + size))
        if (messages) taken.push(messages)
      }
      expect(Buffer.concat(taken)).toEqual(all)
    }
  })

  it('is bounded from one statement to the next', () => {
    const guard = new MessageGuard(32)
    for (let round = 0; round < 5; round++) {
      expect(guard.take(command)).toEqual(command)
      expect(guard.take(command)).toEqual(command)
      expect(() => new MessageGuard(10).take(command)).toThrow('too long')
      expect(guard.take(ready.subarray(0, 3))).toBeNull()
      expect(guard.take(ready.subarray(3))).toEqual(ready)
    }
    guard.take(command)
    guard.take(command)
    expect(() => guard.take(command)).toThrow('too long')
  })

  it.each<[string, string]>([
    ['R', '\0\0\0\0'],
    ['R', '\0\0\0\x05salt'],
    ['R', '\0\0\0\x0aSCRAM-SHA-256\0\0'],
    ['E', 'SERROR\0C42P01\0\0'],
    ['N', '\0'],
    ['D', '\0\x02\xff\xff\xff\xff\0\0\0\x01x'],
    ['D', '\0\0'],
    ['T', `\0\x01name\0${'\0'.repeat(18)}`],
    ['t', '\0\x01\0\0\0\x17'],
    ['G', '\0\0\x01\0\0'],
    ['A', '\0\0\0\x01channel\0payload\0'],
    ['S', 'TimeZone\0UTC\0'],
    ['K', '\0\0\0\x01\0\0\0\x02'],
    ['1', ''],
    ['d', 'anything'],
  ])('is sound: %s %j', (kind, body) => {
    const bytes = Buffer.from(body, 'latin1')
    expect(isSound(kind, bytes)).toBe(true)
    // Every part of it counts.
    if (kind !== 'd' && bytes.length > 0) expect(isSound(kind, bytes.subarray(0, -1))).toBe(false)
  })
})
