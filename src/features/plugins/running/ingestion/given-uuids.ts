// Uuids that apps give to events. The event store knows repeats by them, while a sender repeats an event under the uuid that
// it came with, and an app may make another one of it each time: of the hour, or by chance. So the first one that an event
// is given stays.
import type { Db } from '../../../../platform/db/database.ts'
import { deleteInBatches } from '../../../../platform/db/in-batches.ts'
import { sql } from '../../../../platform/db/sql.ts'
import type { Services } from '../../../../platform/services.ts'
import type { Passage } from './passage.ts'

/** Clients repeat what was not answered within minutes, and phones once they are switched on again. */
const KEPT_MS = 3 * 24 * 3_600_000

export class GivenUuids {
  readonly #services: Pick<Services, 'db' | 'now'>

  constructor(services: Pick<Services, 'db' | 'now'>) {
    this.#services = services
  }

  /** Those that are through get the uuid that they were given first. */
  async settle(project_id: number, passages: readonly Passage[]): Promise<void> {
    const renamed = passages.filter(
      ({ held, event, own_uuid }) => !held && event !== null && event.uuid !== own_uuid,
    )
    if (renamed.length === 0) return
    const { db, now } = this.#services
    const first = await keepGivenUuids(db, project_id, renamed, now())
    for (const { event, own_uuid } of renamed) event!.uuid = first.get(own_uuid) ?? event!.uuid
  }
}

/** The given one of each own, of now or of an earlier time. In one order, so that no two statements wait for each other. */
async function keepGivenUuids(
  db: Db,
  project_id: number,
  passages: readonly Passage[],
  now: Date,
): Promise<Map<string, string>> {
  const own = passages.map(({ own_uuid }) => own_uuid)
  const given = passages.map(({ event }) => event!.uuid)
  const rows = await db.rows<{ uuid: string; given: string }>(sql`
    INSERT INTO plugin_given_uuid AS kept (project_id, uuid, given, created_at)
    SELECT DISTINCT ON (pair.uuid) project.id, pair.uuid, pair.given, ${now}
    FROM unnest(${own}::uuid[], ${given}::uuid[]) WITH ORDINALITY AS pair (uuid, given, position)
    JOIN project ON project.id = ${project_id}
    ORDER BY pair.uuid, pair.position
    ON CONFLICT (project_id, uuid) DO UPDATE SET given = kept.given
    RETURNING uuid, given`)
  return new Map(rows.map(({ uuid, given }) => [uuid, given]))
}

/** Over all projects; how many went. A timetable entry calls this. */
export function forgetOldGivenUuids(db: Db, now: Date): Promise<number> {
  const oldest_kept = new Date(now.getTime() - KEPT_MS)
  return deleteInBatches(
    db,
    (batch_size) => sql`
      DELETE FROM plugin_given_uuid WHERE (project_id, uuid) IN (
        SELECT project_id, uuid FROM plugin_given_uuid WHERE created_at < ${oldest_kept}
        ORDER BY created_at LIMIT ${batch_size})`,
  )
}
