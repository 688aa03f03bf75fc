// Cases asked of DuckDB, as a client would see the answers.
import { openFixture } from '../fixture/store.ts'
import { openEvaluation } from '../functions/fixture/evaluate.ts'
import type { Answer, Case } from './cases.ts'

export async function openDuckdb() {
  const [fixture, evaluation] = [await openFixture(), await openEvaluation()]
  return {
    async ask({ hogql, timezone, is_query }: Case): Promise<Answer> {
      try {
        const { columns, rows } = await (is_query ? fixture : evaluation).answer(hogql, timezone)
        return { types: columns.map(({ type }) => type), rows }
      } catch (error) {
        return { error: String(error) }
      }
    },
    close() {
      fixture.close()
      evaluation.close()
    },
  }
}
