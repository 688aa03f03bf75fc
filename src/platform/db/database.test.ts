import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { isParentGone, openDatabase, RowGone, violatedUnique, type Database, type Db } from './database.ts'
import { sql } from './sql.ts'
import { errorCode } from '../../lib/error-code.ts'

const { template: _, ...connection } = inject('postgres')
const name = `test_database_${randomBytes(6).toString('hex')}`

let admin: Database
let db: Database
beforeAll(async () => {
  admin = openDatabase({ ...connection, database: 'longshore', max: 1 })
  await admin.pool.query(`CREATE DATABASE ${name}`)
  db = openDatabase({ ...connection, database: name })
  await db.pool.query(
    'CREATE TABLE shelf (id int PRIMARY KEY, label text CONSTRAINT shelf_label_unique UNIQUE)',
  )
  await db.pool.query('CREATE TABLE book (id int PRIMARY KEY, shelf_id int REFERENCES shelf)')
})
beforeEach(() => db.pool.query('TRUNCATE shelf, book'))
afterAll(async () => {
  await db.close()
  await admin.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await admin.close()
})

const put = (on: Db, id: number, label = `shelf ${id}`) =>
  on.run(sql`INSERT INTO shelf VALUES (${id}, ${label})`)
const ids = async () =>
  (await db.rows<{ id: number }>(sql`SELECT id FROM shelf ORDER BY id`)).map((row) => row.id)
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('statements', () => {
  it('give rows, one row, or the number of rows', async () => {
    await put(db, 1)
    await put(db, 2)
    expect(await db.rows(sql`SELECT id FROM shelf ORDER BY id`)).toEqual([{ id: 1 }, { id: 2 }])
    expect(await db.row(sql`SELECT id FROM shelf WHERE id = ${2}`)).toEqual({ id: 2 })
    expect(await db.row(sql`SELECT id FROM shelf WHERE id = ${3}`)).toBeUndefined()
    expect(await db.run(sql`DELETE FROM shelf`)).toBe(2)
  })

  it('`only` without a row says that the thing has gone', async () => {
    expect(await failure(db.only(sql`SELECT 1 WHERE false`))).toBeInstanceOf(RowGone)
    expect(await db.only(sql`SELECT 1 AS one`)).toEqual({ one: 1 })
  })

  it('name the constraint that was hurt', async () => {
    await put(db, 1, 'same')
    expect(violatedUnique(await failure(put(db, 2, 'same')))).toBe('shelf_label_unique')
    const orphan = await failure(db.run(sql`INSERT INTO book VALUES (1, 99)`))
    expect(violatedUnique(orphan)).toBeUndefined()
    expect(isParentGone(orphan)).toBe(true)
    expect(errorCode(new Error('plain'))).toBe('')
  })
})

describe('transaction', () => {
  it('commits what was done, and gives back what the work gives', async () => {
    const result = await db.transaction(async (tx) => {
      await put(tx, 1)
      return 'done'
    })
    expect(result).toBe('done')
    expect(await ids()).toEqual([1])
  })

  it('leaves nothing behind when the work throws, and the connection is good again', async () => {
    const error = new Error('changed my mind')
    expect(
      await failure(
        db.transaction(async (tx) => {
          await put(tx, 1)
          throw error
        }),
      ),
    ).toBe(error)
    expect(await ids()).toEqual([])
    expect(db.pool.idleCount).toBe(db.pool.totalCount)
  })

  it('is not seen by others before it ends', async () => {
    await db.transaction(async (tx) => {
      await put(tx, 1)
      expect(await ids()).toEqual([])
    })
    expect(await ids()).toEqual([1])
  })

  it('does not pass for done when the error of a statement was swallowed', async () => {
    const error = await failure(
      db.transaction(async (tx) => {
        await put(tx, 1)
        await failure(put(tx, 1))
        return 'done'
      }),
    )
    expect(String(error)).toContain('rolled back')
    expect(await ids()).toEqual([])
  })
})

describe('nested transaction', () => {
  it('commits together with the outer one', async () => {
    await db.transaction(async (tx) => {
      await put(tx, 1)
      await tx.transaction((nested) => put(nested, 2))
      expect(await ids()).toEqual([])
    })
    expect(await ids()).toEqual([1, 2])
  })

  it('goes alone when it fails and the outer one carries on', async () => {
    await db.transaction(async (tx) => {
      await put(tx, 1)
      const error = await failure(
        tx.transaction(async (nested) => {
          await put(nested, 2)
          await put(nested, 1)
        }),
      )
      expect(violatedUnique(error)).toBe('shelf_pkey')
      await put(tx, 3)
    })
    expect(await ids()).toEqual([1, 3])
  })

  it('goes with the outer one', async () => {
    await failure(
      db.transaction(async (tx) => {
        await tx.transaction((nested) => put(nested, 1))
        throw new Error('no')
      }),
    )
    expect(await ids()).toEqual([])
  })

  it('three levels deep undoes exactly the failed level, again and again', async () => {
    await db.transaction(async (tx) => {
      for (let round = 0; round < 3; round++) {
        await tx.transaction(async (second) => {
          await put(second, 10 * round)
          await failure(
            second.transaction(async (third) => {
              await put(third, 10 * round + 1)
              throw new Error('no')
            }),
          )
          await put(second, 10 * round + 2)
        })
      }
    })
    expect(await ids()).toEqual([0, 2, 10, 12, 20, 22])
  })
})

describe('afterCommit', () => {
  it('runs at once outside a transaction', () => {
    const seen: string[] = []
    db.afterCommit(() => seen.push('now'))
    expect(seen).toEqual(['now'])
  })

  it('runs once others can see the change, in order', async () => {
    const seen: unknown[] = []
    await db.transaction(async (tx) => {
      tx.afterCommit(() => seen.push('first'))
      await tx.transaction(async (nested) => nested.afterCommit(() => seen.push('second')))
      tx.afterCommit(() => seen.push('third'))
      expect(seen).toEqual([])
    })
    expect(seen).toEqual(['first', 'second', 'third'])
  })

  it('never runs after a rollback', async () => {
    const seen: string[] = []
    await failure(
      db.transaction(async (tx) => {
        tx.afterCommit(() => seen.push('no'))
        throw new Error('no')
      }),
    )
    expect(seen).toEqual([])
  })

  it('does not run for a nested part that was undone', async () => {
    const seen: string[] = []
    await db.transaction(async (tx) => {
      await failure(
        tx.transaction(async (nested) => {
          nested.afterCommit(() => seen.push('undone'))
          throw new Error('no')
        }),
      )
      tx.afterCommit(() => seen.push('kept'))
    })
    expect(seen).toEqual(['kept'])
  })

  it('that throws undoes nothing and harms no connection', async () => {
    const error = new Error('listener')
    const thrown = await failure(
      db.transaction(async (tx) => {
        await put(tx, 1)
        tx.afterCommit(() => {
          throw error
        })
      }),
    )
    expect(thrown).toBe(error)
    expect(await ids()).toEqual([1])
    expect(db.pool.idleCount).toBe(db.pool.totalCount)
  })
})

describe('a deadlock', () => {
  /** Two transactions that lock two rows in opposite order, each waiting until the other holds its first. */
  async function cross(onTry: () => void): Promise<void> {
    const arrived = [gate(), gate()]
    const lockBoth = (own: number, first: number, second: number) =>
      db.transaction(async (tx) => {
        onTry()
        await tx.run(sql`UPDATE shelf SET label = label || '.' WHERE id = ${first}`)
        arrived[own]!.open()
        await arrived[1 - own]!.passed
        await tx.run(sql`UPDATE shelf SET label = label || '.' WHERE id = ${second}`)
      })
    await Promise.all([lockBoth(0, 1, 2), lockBoth(1, 2, 1)])
  }

  it('is tried again until both are done, each exactly once', async () => {
    await put(db, 1, 'one')
    await put(db, 2, 'two')
    let tries = 0
    await cross(() => tries++)
    // Three as a rule; the second try may meet the other transaction once more.
    expect(tries).toBeGreaterThan(2)
    expect(await db.rows(sql`SELECT label FROM shelf ORDER BY id`)).toEqual([
      { label: 'one..' },
      { label: 'two..' },
    ])
  })

  it('that never ends is given up after five more tries', async () => {
    let tries = 0
    const error = await failure(
      db.transaction(async (tx) => {
        tries++
        await tx.run(sql`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$`)
      }),
    )
    expect(errorCode(error)).toBe('40P01')
    expect(tries).toBe(6)
  })

  it('does not make other errors worth a second try', async () => {
    let tries = 0
    await failure(
      db.transaction(async (tx) => {
        tries++
        await tx.run(sql`SELECT 1 / 0`)
      }),
    )
    expect(tries).toBe(1)
  })
})

describe('a lost connection', () => {
  it('fails the transaction in it and none after it', async () => {
    const error = await failure(
      db.transaction(async (tx) => {
        const { pid } = await tx.only<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`)
        await tx.transaction(async (nested) => {
          await db.run(sql`SELECT pg_terminate_backend(${pid})`)
          await put(nested, 1)
        })
      }),
    )
    expect(error).toBeInstanceOf(Error)
    await put(db, 2)
    expect(await ids()).toEqual([2])
  })
})

function gate() {
  let open = () => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { open, passed }
}
