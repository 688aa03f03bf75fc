// An attack is a row: the hole it goes for, its name, and what it does to a world. It says what must be refused and what
// must still work beside it. suites.ts puts them together, run-suite.ts makes tests of them, and scripts/docs counts them.
import type { HoleId } from './holes.ts'

export type Attack<World> = {
  hole: HoleId
  name: string
  /** Which row of how many it is, where a table has one attack for each. */
  row?: { at: number; of: number }
  run(world: World): Promise<unknown>
}

export function attack<World>(hole: HoleId, name: string, run: Attack<World>['run']): Attack<World> {
  return { hole, name, run }
}

/** One attack for each row of a table. */
export function attackEach<World, Row>(
  hole: HoleId,
  rows: readonly Row[],
  name: (row: Row) => string,
  run: (world: World, row: Row) => Promise<unknown>,
): Attack<World>[] {
  return rows.map((row, at) => ({
    ...attack<World>(hole, name(row), (world) => run(world, row)),
    row: { at, of: rows.length },
  }))
}
