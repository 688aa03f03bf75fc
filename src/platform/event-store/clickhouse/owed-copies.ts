// Which changes of persons and groups are committed in PostgreSQL and perhaps not copied to ClickHouse yet. Each flush that
// changed something owes its copies until the batch that brings them is stored; a writer that dies leaves that to the others.
import type { Database, Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { ChangeRange, Copied, MissingCopies } from '../event-store.ts'

/** Copies that are not there by then are made by whoever looks first. Made twice they do no harm. */
const LEASE_S = 30

export class OwedCopies {
  constructor(private readonly db: Database) {}

  async owe(tx: Db, { after, last }: ChangeRange): Promise<void> {
    await tx.run(sql`
      INSERT INTO owed_copies (after_change, last_change, leased_until)
      VALUES (${after}, ${last}, clock_timestamp() + make_interval(secs => ${LEASE_S}))`)
  }

  /**
   * A ClickHouse that has no tables yet is owed every change there ever was. The range is named by a number of its own: a flush of
   * another process that owes the latest change settles only what it has copied itself.
   */
  async oweEverything(): Promise<void> {
    await this.db.run(sql`
      INSERT INTO owed_copies (after_change, last_change, leased_until)
      SELECT 0, nextval('people_change'), clock_timestamp() FROM people_change WHERE is_called`)
  }

  /** In the transaction that stores the batch with the copies. What is left of the ranges is leased anew. */
  async settle(tx: Db, { until, owed }: Copied): Promise<void> {
    const [done, left] = [owed.filter((last) => last <= until), owed.filter((last) => last > until)]
    if (done.length > 0) {
      await tx.run(sql`DELETE FROM owed_copies WHERE last_change = ANY(${texts(done)}::bigint[])`)
    }
    if (left.length > 0) {
      await tx.run(sql`
        UPDATE owed_copies SET after_change = greatest(after_change, ${until}),
          leased_until = clock_timestamp() + make_interval(secs => ${LEASE_S})
        WHERE last_change = ANY(${texts(left)}::bigint[])`)
    }
  }

  /** They will not come from their writer: anybody may make them at once. */
  async giveUp(owed: readonly bigint[]): Promise<void> {
    if (owed.length === 0) return
    await this.db.run(
      sql`UPDATE owed_copies SET leased_until = clock_timestamp() WHERE last_change = ANY(${texts(owed)}::bigint[])`,
    )
  }

  /** Everything past its lease, as one range, for this caller alone until the next lease ends. */
  async claim(): Promise<MissingCopies | null> {
    const rows = await this.db.rows<{ after: string; last: string }>(sql`
      UPDATE owed_copies SET leased_until = clock_timestamp() + make_interval(secs => ${LEASE_S})
      WHERE last_change IN (
        SELECT last_change FROM owed_copies WHERE leased_until <= clock_timestamp() FOR UPDATE SKIP LOCKED)
      RETURNING after_change AS after, last_change AS last`)
    if (rows.length === 0) return null
    const owed = rows.map(({ last }) => BigInt(last))
    return {
      after: rows.reduce((least, { after }) => (BigInt(after) < least ? BigInt(after) : least), owed[0]!),
      last: owed.reduce((most, last) => (last > most ? last : most)),
      owed,
    }
  }
}

const texts = (numbers: readonly bigint[]) => numbers.map(String)
