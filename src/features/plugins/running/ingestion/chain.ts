// Events of one project through its apps, one app after the other, within a time that holds up no request. What becomes of
// an event that an app could not run on is for the app's config to say: it goes on as it was before, waits, or is dropped.
import { setTimeout as sleep } from 'node:timers/promises'
import { Breather } from '../../../../lib/breather.ts'
import { writeEventText } from '../../../../platform/sandbox/event-text.ts'
import { AppFault } from '../../../../platform/sandbox/sandbox.ts'
import type { Log } from '../../../../platform/log/log.ts'
import type { ProcessEvent } from '../../inline/inline-app.ts'
import type { PluginLogs } from '../../logs/plugin-logs.ts'
import type { PluginMetrics } from '../../metrics/plugin-metrics.ts'
import { isRemoval } from '../../removal.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { eventAfter, toAppEvent, wrongUuidWarning, type FormContext } from './event-form.ts'
import type { Lapses } from './lapses.ts'
import type { Passage } from './passage.ts'
import { AppIdle, AppLeft, type RunningApp } from '../running-app.ts'
import type { Watch } from '../watch.ts'

/** Between looks at a list that is being made anew. */
const LIST_MS = 5
/** Kept back for each app that is still to come, so that a slow one does not cost the others their turn. */
const RESERVE_MS = 100

export type ChainParts = {
  watch: Watch
  metrics: PluginMetrics
  logs: PluginLogs
  lapses: Lapses
  log: Log
  /** Those with processEvent that are switched on now, in the order of the chain. */
  appsOf(project_id: number): readonly RunningApp[]
}

/** `retry`: the events were held, and are tried again. */
export type ChainContext = FormContext & { patience_ms: number; retry: boolean }

/** Afterwards each event is through, dropped or held. Never throws. */
export async function runChain(
  parts: ChainParts,
  passages: readonly Passage[],
  context: ChainContext,
): Promise<void> {
  const deadline = performance.now() + context.patience_ms
  const interrupted = new Set<RunningApp>()
  for (;;) {
    const apps = parts.appsOf(context.project_id)
    const index = apps.findIndex((app) => passages.some((passage) => passage.isFor(app)))
    const app = apps[index]
    if (!app) return
    const left_ms = Math.max(0, deadline - performance.now())
    const to_come = apps.length - index - 1
    const within_ms = Math.max(left_ms - RESERVE_MS * to_come, left_ms / (to_come + 1))
    const due = passages.filter((passage) => passage.isFor(app))
    const goneBy = await passOrFail(parts, app, due, context, within_ms)
    if (!goneBy) continue
    const isListed = await isStillListed(parts, app, goneBy, deadline)
    if (isListed && interrupted.has(app)) fail(parts, app, stillFor(app, due), goneBy)
    interrupted.add(app)
  }
}

const stillFor = (app: RunningApp, passages: readonly Passage[]) =>
  passages.filter((passage) => passage.isFor(app))

/** Edited or switched off meanwhile: no failure of the app, and what it did not get to goes by the apps of now. */
type Gone = AppFault | AppLeft

function asGone(error: unknown): Gone | null {
  if (error instanceof AppLeft) return error
  return error instanceof AppFault && error.kind === 'gone' ? error : null
}

/** Whatever goes wrong is seen to, unless the app is gone: that is returned. */
async function passOrFail(
  parts: ChainParts,
  app: RunningApp,
  due: readonly Passage[],
  context: ChainContext,
  within_ms: number,
): Promise<Gone | null> {
  try {
    const { succeeded, gone } = await passApp(parts, app, due, context, within_ms)
    const outcome = context.retry ? 'success_on_retry' : 'success'
    if (succeeded > 0) parts.metrics.count(app, 'processEvent', outcome, { by: succeeded })
    return gone
  } catch (error) {
    const gone = asGone(error)
    if (gone) return gone
    if (!(error instanceof AppFault || error instanceof AppIdle))
      parts.log.error(
        { err: app.redactor.cleanError(error), config_id: app.config_id },
        'plugins: events could not go through an app',
      )
    fail(parts, app, stillFor(app, due), error)
    return null
  }
}

/** The list is made anew a moment after an app has left. */
async function isStillListed(
  { appsOf }: ChainParts,
  app: RunningApp,
  gone: Gone,
  deadline: number,
): Promise<boolean> {
  const isListed = () => appsOf(app.project_id).includes(app)
  while (gone instanceof AppLeft && isListed() && performance.now() < deadline) await sleep(LIST_MS)
  return isListed()
}

/** `gone`: the app was, before some of them had their turn. */
type Passed = { succeeded: number; gone: Gone | null }

/** Throws what went wrong for all of them. */
async function passApp(
  parts: ChainParts,
  app: RunningApp,
  due: readonly Passage[],
  context: ChainContext,
  within_ms: number,
): Promise<Passed> {
  const { code } = app
  if (code.kind === 'broken') throw new AppIdle(code.reason)
  if (code.kind === 'inline')
    return { succeeded: await passInline(parts, app, code.processEvent, due, within_ms), gone: null }
  return passSandboxed(parts, app, due, context, within_ms)
}

/**
 * On the main thread, which others get in between. Its own time counts, not theirs, and it has the reserve at least: what
 * came before it may have used up all.
 */
async function passInline(
  parts: ChainParts,
  app: RunningApp,
  processEvent: ProcessEvent,
  due: readonly Passage[],
  within_ms: number,
): Promise<number> {
  const breather = new Breather()
  let left_ms = Math.max(within_ms, RESERVE_MS)
  let succeeded = 0
  for (const [index, passage] of due.entries()) {
    if (left_ms <= 0) {
      fail(parts, app, due.slice(index), new AppFault('late', 'earlier events have used up its time'))
      break
    }
    if (breather.isDue) await breather.take()
    const began = performance.now()
    if (passInlineOne(parts, app, processEvent, passage)) succeeded++
    left_ms -= performance.now() - began
  }
  return succeeded
}

function passInlineOne(
  parts: ChainParts,
  app: RunningApp,
  processEvent: ProcessEvent,
  passage: Passage,
): boolean {
  const event = passage.event!
  try {
    const result = processEvent(copyOf(event))
    passage.succeed(app, result && { ...result, uuid: event.uuid, created_at: event.created_at })
    return true
  } catch (error) {
    const fault = new AppFault('threw', error instanceof Error ? error.message : String(error))
    parts.watch.note(app, fault, 'processEvent')
    fail(parts, app, [passage], fault)
    return false
  }
}

async function passSandboxed(
  parts: ChainParts,
  app: RunningApp,
  due: readonly Passage[],
  context: ChainContext,
  within_ms: number,
): Promise<Passed> {
  const forms = due.map((passage) => toAppEvent(passage.event!, context))
  const texts = forms.map(({ fields, properties }) => writeEventText(fields, properties))
  const outcomes = await parts.watch.processEvents(app, texts, within_ms)
  if (outcomes.some(isRemoval)) parts.lapses.hasRemoved(app)
  const warning = wrongUuidWarning(outcomes)
  if (warning !== null) parts.logs.add(app, 'SYSTEM', 'WARN', warning)
  const failures = new Map<string, { fault: AppFault; passages: Passage[] }>()
  let succeeded = 0
  let gone: Gone | null = null
  for (const [index, passage] of due.entries()) {
    try {
      passage.succeed(app, eventAfter(passage.event!, forms[index]!, outcomes[index]!, context))
      succeeded++
    } catch (error) {
      if (!(error instanceof AppFault)) throw error
      gone ??= asGone(error)
      if (asGone(error)) continue
      if (outcomes[index]!.kind !== 'failed') parts.watch.note(app, error, 'processEvent')
      const alike = failures.get(error.message)
      if (alike) alike.passages.push(passage)
      else failures.set(error.message, { fault: error, passages: [passage] })
    }
  }
  for (const { fault, passages } of failures.values()) fail(parts, app, passages, fault)
  return { succeeded, gone }
}

/** Does with them what the config says. */
function fail(parts: ChainParts, app: RunningApp, passages: readonly Passage[], error: unknown): void {
  for (const passage of passages) {
    if (error instanceof AppFault)
      parts.metrics.error(app, 'processEvent', error, shownOf(app, passage.event!))
    if (app.on_failure === 'pass') passage.pass(app)
    else if (app.on_failure === 'drop') passage.drop()
    else passage.hold({ config_id: app.config_id, fault: error instanceof AppFault ? error.kind : null })
  }
  const reason =
    error instanceof AppFault || error instanceof AppIdle ? error.message : 'A fault of the server.'
  const failures = countFailures(app, passages, error)
  if (failures > 0) parts.metrics.count(app, 'processEvent', 'failure', { by: failures })
  if (app.on_failure === 'hold') return parts.lapses.waits(app, reason)
  parts.lapses.note(app, app.on_failure === 'pass' ? 'passed' : 'dropped', passages.length, reason)
}

/** An event that waits is one failure, however often it is tried, and none before the app has failed on it. */
function countFailures(app: RunningApp, passages: readonly Passage[], error: unknown): number {
  if (app.on_failure !== 'hold') return passages.length
  return error instanceof AppFault ? passages.filter((passage) => passage.failsFirst(app)).length : 0
}

/** What is kept of an event with the fault. An app that events must not come past may be there to hide its properties. */
function shownOf({ on_failure }: RunningApp, { uuid, event, distinct_id, properties }: PipelineEvent) {
  return on_failure === 'pass' ? { uuid, event, distinct_id, properties } : { uuid, event, distinct_id }
}

/** What the app changes before it throws must not stay. */
function copyOf(event: PipelineEvent): PipelineEvent {
  return { ...event, properties: structuredClone(event.properties) }
}
