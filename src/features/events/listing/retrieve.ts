// One event by its id.
import { invalid, notFound } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import type { Expr } from '../../../hogql/ast.ts'
import type { AskedProject } from '../run-query.ts'
import type { EventRow } from './record.ts'
import { findEventRows } from './rows.ts'
import { compare, constant, descending, eventField, moment } from '../tree.ts'

const DAY_MICROS = 86_400_000_000n
const UUID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/

export async function getEventRow(services: Services, project: AskedProject, id: string): Promise<EventRow> {
  const uuid = readEventId(id)
  const row =
    (await findNearItsTime(services, project, uuid)) ?? (await findEventRow(services, project, uuid))
  if (row === undefined) throw notFound()
  return row
}

/** Dashes may be missing, and case does not matter. */
function readEventId(id: string): string {
  const groups = UUID.exec(id.trim().toLowerCase())
  if (groups === null) throw invalid('id', 'invalid', 'This is not a UUID.')
  return groups.slice(1).join('-')
}

/** There is no index of ids. Version 7 carries its time, and most events happen when their id was made. */
async function findNearItsTime(services: Services, project: AskedProject, uuid: string) {
  if (uuid[14] !== '7') return undefined
  const made = BigInt(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)) * 1000n
  const latest = BigInt(services.now().getTime()) * 1000n + DAY_MICROS
  if (made > latest) return undefined
  const timestamp = eventField('timestamp')
  return findEventRow(services, project, uuid, [
    compare(timestamp, '>=', moment(made - DAY_MICROS)),
    compare(timestamp, '<=', moment(made + DAY_MICROS)),
  ])
}

/** A client may use an id again, days apart: then the event that arrived last is meant. */
async function findEventRow(
  services: Services,
  project: AskedProject,
  uuid: string,
  when: readonly Expr[] = [],
): Promise<EventRow | undefined> {
  const [row] = await findEventRows(services, project, {
    where: [compare(eventField('uuid'), '==', constant(uuid)), ...when],
    order_by: [descending(eventField('created_at')), descending(eventField('timestamp'))],
    limit: 1,
  })
  return row
}
