// The simulation behind `npm run prove`: a part of its seeds, and that it notices what is broken on purpose.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MUTATIONS } from '../scripts/prove/mutations.ts'
import { openProof, type Proof } from '../scripts/prove/proof.ts'
import { runSimulation } from '../scripts/prove/simulation.ts'
import { openDatabase, type Database } from '../src/platform/db/database.ts'

const SEEDS = 20
const FEW_HUNDRED = 300

const database = `prove_${randomBytes(6).toString('hex')}`
let admin: Database
let proof: Proof
beforeAll(async () => {
  const { template, ...connection } = inject('postgres')
  admin = openDatabase({ ...connection, database: 'longshore', max: 1 })
  await admin.pool.query(`CREATE DATABASE ${database} TEMPLATE ${template}`)
  proof = await openProof({ ...connection, database })
})
afterAll(async () => {
  await proof.close()
  await admin.pool.query(`DROP DATABASE ${database} WITH (FORCE)`)
  await admin.close()
})

describe('exports through crashes, stalls, lost answers and clocks that are set', () => {
  it('deliver everything once', async () => {
    const happened = new Map<string, number>()
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { wrongs, tally } = await runSimulation(proof, seed)
      expect(wrongs, `PROVE_SEED=${seed} npm run prove -- simulation`).toEqual([])
      for (const [what, count] of tally.counts) happened.set(what, (happened.get(what) ?? 0) + count)
    }
    // Without these the seeds would show nothing.
    for (const what of [
      'runs that ended Completed',
      'runs that ended Cancelled',
      'runs taken up again',
      'zombies turned away',
      'crash after a call to the destination',
      'fail after a call to the destination',
      'clocks set back',
    ]) {
      expect(happened.get(what) ?? 0, what).toBeGreaterThan(0)
    }
  })

  it('go the same way again from the same seed', async () => {
    const [first, second] = [await runSimulation(proof, 7), await runSimulation(proof, 7)]
    // The store's tables are named after the project, which is another one.
    const told = (trace: readonly string[]) => trace.map((line) => line.replace(/ev_\d+/, 'events'))
    expect(told(second.trace)).toEqual(told(first.trace))
  })
})

describe('the simulation notices that', () => {
  it.each(Object.entries(MUTATIONS))('%s', async (_, { first_seed, ...mutation }) => {
    const wrongs: string[] = []
    const { rewrite } = mutation
    let rewritten = 0
    if (rewrite) {
      mutation.rewrite = (statement) => {
        const changed = rewrite(statement)
        if (changed.text !== statement.text) rewritten++
        return changed
      }
    }
    for (let seed = first_seed; seed < first_seed + FEW_HUNDRED && wrongs.length === 0; seed++) {
      wrongs.push(...(await runSimulation(proof, seed, mutation)).wrongs)
    }
    // A statement that reads otherwise by now would be left as it is, and the mutation break nothing.
    if (rewrite) expect(rewritten).toBeGreaterThan(0)
    expect(wrongs).not.toEqual([])
  })
})
