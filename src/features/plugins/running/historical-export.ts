// The job "Export historical events", which every app with exportEvents has: hands it the events that were stored before it
// was switched on, page by page. The job's row holds how far it is, so that a restart goes on there.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { parseTimestamp } from '../../../lib/timestamps.ts'
import { AppFault, HISTORICAL_EXPORT } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import { toProcessedEvent, isOwnEvent } from '../delivery/event-forms.ts'
import { METHOD_RULES } from '../delivery/methods.ts'
import { readPage, type StoredEvent } from '../delivery/stored-events.ts'
import { wantedBy } from '../delivery/wanted-events.ts'
import { allOf, compare, eventField, moment } from '../../events/tree.ts'
import { AppStorage } from './host/storage.ts'
import type { RunningApp, RunningApps } from './running-app.ts'

const MAX_EVENTS = 500
/** Apps look for these: a second export must not begin beside the first, and one that stood still goes on from a time. */
const IS_RUNNING = 'is_export_running'
const CURSOR = 'timestamp_cursor'
/** By this property an app tells them from events that have just come. */
const MARK = '$$is_historical_export_event'

type ExportServices = Pick<Services, 'db' | 'eventStore' | 'now'>

/** `to`, `end` and `after` are set by the first page: which events it is about does not change on the way. */
type Progress = { from: Date | null; to: Date; end: number; after: number; count: number }

/** The payload to go on with; null when it is done. Throws what the app throws. */
export async function exportPage(
  services: ExportServices,
  apps: RunningApps,
  app: RunningApp,
  payload: unknown,
): Promise<JsonObject | null> {
  const { db, eventStore, now } = services
  const progress = await readProgress(services, app, payload)
  const { from, to, end, after } = progress
  const storage = new AppStorage(db, app)
  if (after === 0) await storage.set(IS_RUNNING, 'true')
  const { project, condition } = await wantedBy(services, app)
  const bounds = [
    ...(from ? [compare(eventField('timestamp'), '>=', moment(microsOf(from)))] : []),
    compare(eventField('timestamp'), '<', moment(microsOf(to))),
    ...(condition ? [condition] : []),
  ]
  const { max_bytes } = METHOD_RULES.exportEvents
  const wanted = { project, condition: allOf(bounds)!, from: after, last: end, now: now() }
  const page = await readPage(eventStore, { ...wanted, max_events: MAX_EVENTS, max_bytes })
  const events = page.events.filter((event) => !isOwnEvent(app.config_id, event))
  if (events.length > 0) {
    await apps.call(app, { method: 'exportEvents', events: events.map((event) => marked(app, event)) })
    await storage.set(CURSOR, String(Date.parse(events.at(-1)!.timestamp)))
  }
  if (page.to >= end) {
    await storage.delete(IS_RUNNING)
    return null
  }
  return {
    dateFrom: from?.toISOString() ?? null,
    dateTo: to.toISOString(),
    end,
    after: page.to,
    count: progress.count + events.length,
  }
}

/** After the last try failed: another export may begin. */
export async function giveUpExport({ db }: Pick<Services, 'db'>, app: RunningApp): Promise<void> {
  await new AppStorage(db, app).delete(IS_RUNNING)
}

/** Whether the server runs this job itself. */
export function isHistoricalExport(app: RunningApp, name: string): boolean {
  return name === HISTORICAL_EXPORT && app.methods.has('exportEvents') && !app.jobs.includes(name)
}

async function readProgress(
  { eventStore, now }: ExportServices,
  app: RunningApp,
  payload: unknown,
): Promise<Progress> {
  const given = isObject(payload) ? payload : {}
  const [first, last] = Array.isArray(given.dateRange) ? given.dateRange : [given.dateFrom, given.dateTo]
  const to = readDate(last, Array.isArray(given.dateRange) ? DAY_MS : 0) ?? now()
  const number = (value: unknown) => (typeof value === 'number' ? value : 0)
  return {
    from: readDate(first),
    to,
    end: number(given.end) || (await eventStore.lastPosition(app.project_id)),
    after: number(given.after),
    count: number(given.count),
  }
}

const DAY_MS = 86_400_000

/** `more_ms`: the last day of a range belongs to it. */
function readDate(value: unknown, more_ms = 0): Date | null {
  if (value === undefined || value === null || value === '') return null
  const date = typeof value === 'string' ? parseTimestamp(value) : null
  if (!date) throw new AppFault('threw', `"${HISTORICAL_EXPORT}" takes dateFrom and dateTo in ISO 8601.`)
  return new Date(date.getTime() + more_ms)
}

const microsOf = (date: Date) => BigInt(date.getTime()) * 1000n

function marked({ project_id }: RunningApp, event: StoredEvent): JsonObject {
  const { properties, ...rest } = toProcessedEvent(project_id, event)
  return { ...rest, properties: { ...(properties as JsonObject), [MARK]: true } }
}
