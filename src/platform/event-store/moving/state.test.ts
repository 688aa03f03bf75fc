// Which store a server may begin with, during and after a move.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeDatabase } from '../../../../test/harness/app.ts'
import { readConfig } from '../../../app/config.ts'
import { openEventStore } from '../../../app/services.ts'
import type { Database } from '../../db/database.ts'
import { beginMove, findMove, finishMove, forgetMove, whyNotToOpen } from './state.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

let db: Database
let drop: () => Promise<void>
let folder: string
beforeAll(async () => {
  ;({ db, drop } = await makeDatabase())
  folder = await mkdtemp(join(tmpdir(), 'longshore-move-'))
})
afterAll(async () => {
  await drop()
  await rm(folder, { recursive: true, force: true })
})

it('not with the target before the end, not with the source after it', async () => {
  const open = () => openEventStore(readConfig({ DATA_DIR: folder }), db)
  expect([await whyNotToOpen(db, 'duckdb'), await whyNotToOpen(db, 'clickhouse')]).toEqual([null, null])

  await beginMove(db, 'duckdb', NOW)
  const unfinished =
    'the move of events to DATA_DIR that began at 2026-03-01T12:00:00.000Z is not finished. ' +
    'Run `longshore events move --to duckdb` again, or give it up with `longshore events move --forget`.'
  expect(await whyNotToOpen(db, 'duckdb')).toBe(unfinished)
  await expect(open()).rejects.toThrow(unfinished)
  // What was not changed serves as before.
  expect(await whyNotToOpen(db, 'clickhouse')).toBe(null)

  await finishMove(db, NOW)
  expect(await whyNotToOpen(db, 'duckdb')).toBe(null)
  expect(await whyNotToOpen(db, 'clickhouse')).toContain('events were moved to DATA_DIR at 2026-03-01T12:00')
  await (await open()).close()

  await beginMove(db, 'clickhouse', NOW)
  expect(await findMove(db)).toEqual({ target: 'clickhouse', started_at: NOW, finished_at: null })
  await finishMove(db, NOW)
  await expect(open()).rejects.toThrow('Set CLICKHOUSE_URL, or go back')
  await forgetMove(db)
  await (await open()).close()
})
