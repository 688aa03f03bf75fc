// Events of one project through its apps, one app after the other, within a time that holds up no request. What becomes of
// an event that an app could not run on is for the app's config to say: it goes on as it was before, waits, or is dropped.
import { writeEventText } from '../../../../platform/sandbox/event-text.ts'
import { AppFault, type EventOutcome } from '../../../../platform/sandbox/sandbox.ts'
import type { Log } from '../../../../platform/log/log.ts'
import type { InlineApp } from '../../inline/inline-app.ts'
import type { PluginMetrics } from '../../metrics/plugin-metrics.ts'
import { isRemoval } from '../../removal.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { applyPatch, toAppEvent, type EventForm, type FormContext } from './event-form.ts'
import type { Lapses } from './lapses.ts'
import type { Passage } from './passage.ts'
import { AppIdle, type RunningApp } from '../running-app.ts'
import type { Watch } from '../watch.ts'

/** Kept back for each app that is still to come, so that a slow one does not cost the others their turn. */
const RESERVE_MS = 100

export type ChainParts = { watch: Watch; metrics: PluginMetrics; lapses: Lapses; log: Log }

/** `retry`: the events were held, and are tried again. */
export type ChainContext = FormContext & { patience_ms: number; retry: boolean }

/** Afterwards each event is through, dropped or held. Never throws. */
export async function runChain(
  parts: ChainParts,
  apps: readonly RunningApp[],
  passages: readonly Passage[],
  context: ChainContext,
): Promise<void> {
  const deadline = performance.now() + context.patience_ms
  for (const [index, app] of apps.entries()) {
    const due = passages.filter((passage) => passage.isFor(app))
    if (due.length === 0) continue
    const left_ms = Math.max(0, deadline - performance.now())
    const to_come = apps.length - index - 1
    const within_ms = Math.max(left_ms - RESERVE_MS * to_come, left_ms / (to_come + 1))
    try {
      const succeeded = await passApp(parts, app, due, context, within_ms)
      const outcome = context.retry ? 'success_on_retry' : 'success'
      if (succeeded > 0) parts.metrics.count(app, 'processEvent', outcome, { by: succeeded })
    } catch (error) {
      if (!(error instanceof AppFault || error instanceof AppIdle))
        parts.log.error(
          { err: app.redactor.cleanError(error), config_id: app.config_id },
          'plugins: events could not go through an app',
        )
      fail(
        parts,
        app,
        due.filter((passage) => passage.isFor(app)),
        error,
      )
    }
  }
}

/** How many succeeded. Throws what went wrong for all of them. */
async function passApp(
  parts: ChainParts,
  app: RunningApp,
  due: readonly Passage[],
  context: ChainContext,
  within_ms: number,
): Promise<number> {
  const { code } = app
  if (code.kind === 'broken') throw new AppIdle(code.reason)
  if (code.kind === 'inline') return passInline(parts, app, code.app, due)
  return passSandboxed(parts, app, due, context, within_ms)
}

function passInline(parts: ChainParts, app: RunningApp, inline: InlineApp, due: readonly Passage[]): number {
  let succeeded = 0
  for (const passage of due) {
    const event = passage.event!
    try {
      const result = inline.processEvent(copyOf(event), app.config)
      passage.succeed(app, result && { ...result, uuid: event.uuid, created_at: event.created_at })
      succeeded++
    } catch (error) {
      const fault = new AppFault('threw', error instanceof Error ? error.message : String(error))
      parts.watch.note(app, fault, 'processEvent')
      fail(parts, app, [passage], fault)
    }
  }
  return succeeded
}

async function passSandboxed(
  parts: ChainParts,
  app: RunningApp,
  due: readonly Passage[],
  context: ChainContext,
  within_ms: number,
): Promise<number> {
  const forms = due.map((passage) => toAppEvent(passage.event!, context))
  const texts = forms.map(({ fields, properties }) => writeEventText(fields, properties))
  const outcomes = await parts.watch.processEvents(app, texts, within_ms)
  if (outcomes.some(isRemoval)) parts.lapses.hasRemoved(app)
  const failures = new Map<string, { fault: AppFault; passages: Passage[] }>()
  let succeeded = 0
  for (const [index, passage] of due.entries()) {
    try {
      passage.succeed(app, outcomeOf(passage.event!, forms[index]!, outcomes[index]!, context))
      succeeded++
    } catch (error) {
      if (!(error instanceof AppFault)) throw error
      if (outcomes[index]!.kind !== 'failed') parts.watch.note(app, error, 'processEvent')
      const alike = failures.get(error.message)
      if (alike) alike.passages.push(passage)
      else failures.set(error.message, { fault: error, passages: [passage] })
    }
  }
  for (const { fault, passages } of failures.values()) fail(parts, app, passages, fault)
  return succeeded
}

/** Throws AppFault. */
function outcomeOf(
  event: PipelineEvent,
  form: EventForm,
  outcome: EventOutcome,
  context: FormContext,
): PipelineEvent | null {
  switch (outcome.kind) {
    case 'unchanged':
      return event
    case 'dropped':
      return null
    case 'changed':
      return applyPatch(event, form, outcome.patch, context)
    case 'failed':
      throw outcome.fault
  }
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
  if (app.on_failure === 'hold') return parts.lapses.waits(app, reason)
  parts.metrics.count(app, 'processEvent', 'failure', { by: passages.length })
  parts.lapses.note(app, app.on_failure === 'pass' ? 'passed' : 'dropped', passages.length, reason)
}

/** What is kept of an event with the fault. An app that events must not come past may be there to hide its properties. */
function shownOf({ on_failure }: RunningApp, { uuid, event, distinct_id, properties }: PipelineEvent) {
  return on_failure === 'pass' ? { uuid, event, distinct_id, properties } : { uuid, event, distinct_id }
}

/** What the app changes before it throws must not stay. */
function copyOf(event: PipelineEvent): PipelineEvent {
  return { ...event, properties: structuredClone(event.properties) }
}
