// One event on its way through the apps of its project.
import { HOPS, type FaultKind } from '../../../../platform/sandbox/sandbox.ts'
import type { JsonObject } from '../../../../lib/json-object.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { CAPTURED_BY } from '../host/captures.ts'
import type { RunningApp } from '../running-app.ts'

const SUCCEEDED = '$plugins_succeeded'
const FAILED = '$plugins_failed'
/** Set by us alone, on events that apps capture. */
const MARKS = [CAPTURED_BY, HOPS] as const
/** What a sender says under these names is taken away: an app that it names would look as if it had run. */
const RESULTS = [SUCCEEDED, FAILED, '$plugins_deferred'] as const

/** Whose app an event waits for, if that is known, and how it failed over it; null where it was not called. */
export type Hold = { config_id: number | null; fault: FaultKind | null }

export class Passage {
  /** Null once it is dropped. */
  event: PipelineEvent | null
  /** By this one its sender's repeats are known, whatever uuid an app gives it. */
  readonly own_uuid: string
  /** Set: it goes no further for now. */
  held: Hold | null = null
  readonly #sender: number | undefined
  readonly #marks: Partial<Record<(typeof MARKS)[number], unknown>>
  readonly #succeeded: string[]
  readonly #failed: string[]
  /** The configs that it need not go through any more. */
  readonly #done: Set<number>
  /** The configs that have failed on it, and had it wait. */
  readonly #failed_on: Set<number>

  /** `sender`: the config that captured it. `done`, `own_uuid`, `failed_on`: from before it was held. */
  constructor(
    event: PipelineEvent,
    sender: number | undefined,
    done: readonly number[] = [],
    own_uuid = event.uuid,
    failed_on: readonly number[] = [],
  ) {
    this.event = event
    this.own_uuid = own_uuid
    this.#sender = sender
    this.#marks =
      sender === undefined ? {} : Object.fromEntries(MARKS.map((mark) => [mark, event.properties[mark]]))
    this.#succeeded = names(event.properties[SUCCEEDED])
    this.#failed = names(event.properties[FAILED])
    this.#done = new Set(done)
    this.#failed_on = new Set(failed_on)
  }

  isFor({ config_id }: RunningApp): boolean {
    const isUnderWay = this.event !== null && this.held === null
    return isUnderWay && config_id !== this.#sender && !this.#done.has(config_id)
  }

  succeed(app: RunningApp, event: PipelineEvent | null): void {
    this.event = event
    this.#done.add(app.config_id)
    this.#succeeded.push(nameOf(app))
  }

  /** It goes on as it was before that app. */
  pass(app: RunningApp): void {
    this.#done.add(app.config_id)
    this.#failed.push(nameOf(app))
  }

  /** False from the second time on. */
  failsFirst({ config_id }: RunningApp): boolean {
    const isFirst = !this.#failed_on.has(config_id)
    this.#failed_on.add(config_id)
    return isFirst
  }

  drop(): void {
    this.event = null
  }

  hold(hold: Hold): void {
    this.held = hold
  }

  /** With the names of the apps, whatever they made of these properties themselves. */
  end(): PipelineEvent | null {
    if (!this.event) return null
    const { properties } = this.event
    const values: JsonObject = {
      [SUCCEEDED]: listOrNone(this.#succeeded),
      [FAILED]: listOrNone(this.#failed),
      ...this.#marks,
    }
    for (const name of [...RESULTS, ...MARKS]) {
      if (values[name] === undefined) delete properties[name]
      else properties[name] = values[name]
    }
    return this.event
  }

  /** As it is, to be taken up by `thaw`. */
  freeze(): string {
    const { timestamp, created_at, ...event } = this.end()!
    const frozen: Frozen = {
      event: { ...event, timestamp: String(timestamp), created_at: String(created_at) },
      sender: this.#sender ?? null,
      done: [...this.#done],
      own_uuid: this.own_uuid,
      failed_on: [...this.#failed_on],
    }
    return JSON.stringify(frozen)
  }

  static thaw(contents: string): Passage {
    const { event, sender, done, own_uuid, failed_on } = JSON.parse(contents) as Frozen
    const times = { timestamp: BigInt(event.timestamp), created_at: BigInt(event.created_at) }
    return new Passage({ ...event, ...times }, sender ?? undefined, done, own_uuid, failed_on)
  }
}

type Frozen = {
  event: Omit<PipelineEvent, 'timestamp' | 'created_at'> & { timestamp: string; created_at: string }
  sender: number | null
  done: number[]
  // Events that were held by an earlier version lack these.
  own_uuid?: string
  failed_on?: number[]
}

/** Takes away what only the server may say. Events that an app captures keep what that says of them. */
export function removeForged({ properties }: PipelineEvent, isCaptured: boolean): void {
  for (const name of isCaptured ? RESULTS : [...RESULTS, ...MARKS]) {
    if (properties[name] !== undefined) delete properties[name]
  }
}

function nameOf({ plugin_name, config_id }: RunningApp): string {
  return `${plugin_name} (${config_id})`
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

function listOrNone(list: readonly string[]): readonly string[] | undefined {
  return list.length > 0 ? list : undefined
}
