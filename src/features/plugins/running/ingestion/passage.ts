// One event on its way through the apps of its project.
import { HOPS } from '../../../../platform/sandbox/sandbox.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { CAPTURED_BY } from '../host/captures.ts'
import type { RunningApp } from '../running-app.ts'

const SUCCEEDED = '$plugins_succeeded'
const FAILED = '$plugins_failed'
/** Set by us alone, at the beginning. */
export const MARKS = [CAPTURED_BY, HOPS] as const

export class Passage {
  /** Null once an app has dropped it. */
  event: PipelineEvent | null
  readonly #sender: number | undefined
  readonly #marks: Partial<Record<(typeof MARKS)[number], unknown>>
  readonly #succeeded: string[]
  readonly #failed: string[]
  /** Apps it went through before it came here: it is being replayed. */
  readonly #earlier: ReadonlySet<string>

  constructor(event: PipelineEvent, sender: number | undefined) {
    this.event = event
    this.#sender = sender
    this.#marks =
      sender === undefined ? {} : Object.fromEntries(MARKS.map((mark) => [mark, event.properties[mark]]))
    this.#succeeded = names(event.properties[SUCCEEDED])
    this.#failed = names(event.properties[FAILED])
    this.#earlier = new Set([...this.#succeeded, ...this.#failed])
  }

  isFor(app: RunningApp): boolean {
    return this.event !== null && app.config_id !== this.#sender && !this.#earlier.has(nameOf(app))
  }

  succeed(app: RunningApp, event: PipelineEvent | null): void {
    this.event = event
    this.#succeeded.push(nameOf(app))
  }

  fail(app: RunningApp): void {
    this.#failed.push(nameOf(app))
  }

  /** With the names of the apps, whatever they made of these properties themselves. */
  end(): PipelineEvent | null {
    if (!this.event) return null
    const { properties } = this.event
    if (this.#succeeded.length > 0) properties[SUCCEEDED] = this.#succeeded
    if (this.#failed.length > 0) properties[FAILED] = this.#failed
    for (const mark of MARKS) {
      if (this.#marks[mark] === undefined) delete properties[mark]
      else properties[mark] = this.#marks[mark]
    }
    return this.event
  }
}

function nameOf({ plugin_name, config_id }: RunningApp): string {
  return `${plugin_name} (${config_id})`
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
