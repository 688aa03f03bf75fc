// Events of one project through its apps, one app after the other, within a time that holds up no request: an app that
// fails or is late is passed by, and the event goes on as it was before it.
import { writeEventText } from '../../../../platform/sandbox/event-text.ts'
import { AppFault, type EventOutcome } from '../../../../platform/sandbox/sandbox.ts'
import type { InlineApp } from '../../inline/inline-app.ts'
import type { PluginMetrics } from '../../metrics/plugin-metrics.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { applyPatch, toAppEvent, type EventForm, type FormContext } from './event-form.ts'
import type { Passage } from './passage.ts'
import type { RunningApp } from '../running-app.ts'
import type { Watch } from '../watch.ts'

/** Kept back for each app that is still to come, so that a slow one does not cost the others their turn. */
const RESERVE_MS = 100

export type ChainParts = { watch: Watch; metrics: PluginMetrics }

export async function runChain(
  parts: ChainParts,
  apps: readonly RunningApp[],
  passages: readonly Passage[],
  context: FormContext,
  patience_ms: number,
): Promise<void> {
  const deadline = performance.now() + patience_ms
  for (const [index, app] of apps.entries()) {
    const due = passages.filter((passage) => passage.isFor(app))
    if (due.length === 0) continue
    const left_ms = Math.max(0, deadline - performance.now())
    const to_come = apps.length - index - 1
    const within_ms = Math.max(left_ms - RESERVE_MS * to_come, left_ms / (to_come + 1))
    const succeeded =
      app.code.kind === 'inline'
        ? passInline(parts, app, app.code.app, due)
        : await passSandboxed(parts, app, due, context, within_ms)
    count(parts, app, succeeded, due.length - succeeded)
  }
}

/** How many succeeded. */
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
      failed(parts, app, passage, fault)
    }
  }
  return succeeded
}

async function passSandboxed(
  parts: ChainParts,
  app: RunningApp,
  due: readonly Passage[],
  context: FormContext,
  within_ms: number,
): Promise<number> {
  const forms = due.map((passage) => toAppEvent(passage.event!, context))
  const texts = forms.map(({ fields, properties }) => writeEventText(fields, properties))
  const outcomes = await parts.watch.processEvents(app, texts, within_ms).catch((error: unknown) => {
    for (const passage of due) failed(parts, app, passage, error)
    return null
  })
  if (!outcomes) return 0
  let succeeded = 0
  for (const [index, passage] of due.entries()) {
    try {
      passage.succeed(app, outcomeOf(passage.event!, forms[index]!, outcomes[index]!, context))
      succeeded++
    } catch (error) {
      if (outcomes[index]!.kind !== 'failed' && error instanceof AppFault)
        parts.watch.note(app, error, 'processEvent')
      failed(parts, app, passage, error)
    }
  }
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

/** An app that cannot be called now fails too, but there is no fault to tell of each event. */
function failed({ metrics }: ChainParts, app: RunningApp, passage: Passage, error: unknown): void {
  const { uuid, event, distinct_id, properties } = passage.event!
  if (error instanceof AppFault)
    metrics.error(app, 'processEvent', error, { uuid, event, distinct_id, properties })
  passage.fail(app)
}

function count({ metrics }: ChainParts, app: RunningApp, successes: number, failures: number): void {
  if (successes > 0) metrics.count(app, 'processEvent', 'success', { by: successes })
  if (failures > 0) metrics.count(app, 'processEvent', 'failure', { by: failures })
}

/** What the app changes before it throws must not stay. */
function copyOf(event: PipelineEvent): PipelineEvent {
  return { ...event, properties: structuredClone(event.properties) }
}
