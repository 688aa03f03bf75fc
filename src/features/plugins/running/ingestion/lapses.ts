// Events that an app should have changed and could not: counted, said in its log and, for as long as it lasts, in the
// error of its config. Nothing goes past an app in silence.
import type { Services } from '../../../../platform/services.ts'
import type { PluginLogs } from '../../logs/plugin-logs.ts'
import type { FaultRecords } from '../fault-records.ts'
import type { RunningApp } from '../running-app.ts'

/** Became of them: stored without the app, kept until it can run, or not stored. */
export type Lapse = 'passed' | 'held' | 'dropped'

const SAID: Record<Lapse, { one: string; many: string; error: string }> = {
  passed: {
    one: 'event was stored without this app',
    many: 'events were stored without this app',
    error: 'Events are stored without this app',
  },
  held: {
    one: 'event waits for this app',
    many: 'events wait for this app',
    error: 'Events wait for this app',
  },
  dropped: {
    one: 'event was dropped because this app could not run',
    many: 'events were dropped because this app could not run',
    error: 'Events are dropped because this app cannot run',
  },
}

/** Between lines of one kind, and how long it must have been quiet for it to be over. */
const PAUSE_MS = 60_000

type Episode = {
  app: RunningApp
  reason: string
  /** What the config says of it. */
  error: string
  last_ms: number
  /** Not said yet. */
  unsaid: Map<Lapse, number>
  said_ms: Map<Lapse, number>
}

export class Lapses {
  /** Since the start of the process. */
  readonly totals: Record<Lapse, number> = { passed: 0, held: 0, dropped: 0 }
  readonly #services: Pick<Services, 'now'>
  readonly #logs: PluginLogs
  readonly #records: FaultRecords
  readonly #isHeld: (project_id: number) => boolean
  readonly #episodes = new Map<number, Episode>()

  constructor(
    services: Pick<Services, 'now'>,
    logs: PluginLogs,
    records: FaultRecords,
    isHeld: (project_id: number) => boolean,
  ) {
    this.#services = services
    this.#logs = logs
    this.#records = records
    this.#isHeld = isHeld
  }

  note(app: RunningApp, lapse: Lapse, count: number, reason?: string): void {
    this.totals[lapse] += count
    const episode = this.#episodeOf(app, lapse, reason)
    episode.unsaid.set(lapse, (episode.unsaid.get(lapse) ?? 0) + count)
    this.#say(episode)
  }

  /** It could not run on events that are, or will be, held. */
  waits(app: RunningApp, reason: string): void {
    this.#episodeOf(app, 'held', reason)
  }

  /** An app that takes something away is a guard from now on, unless somebody has said what it is. */
  hasRemoved(app: RunningApp): void {
    if (!app.is_on_failure_default || app.on_failure === 'hold') return
    app.on_failure = 'hold'
    this.#records.hasRemoved(app)
  }

  tick(): void {
    const now_ms = this.#services.now().getTime()
    for (const [config_id, episode] of this.#episodes) {
      this.#say(episode)
      const isQuiet = now_ms - episode.last_ms >= PAUSE_MS && !this.#isHeld(episode.app.project_id)
      if (!isQuiet) continue
      this.#episodes.delete(config_id)
      this.#records.isOver(episode.app)
    }
  }

  /** Says what is left to say. */
  close(): void {
    for (const episode of this.#episodes.values()) {
      episode.said_ms.clear()
      this.#say(episode)
    }
  }

  #episodeOf(app: RunningApp, lapse: Lapse, reason: string | undefined): Episode {
    const last_ms = this.#services.now().getTime()
    const known = this.#episodes.get(app.config_id)
    if (known) return Object.assign(known, { app, last_ms, reason: reason ?? known.reason })
    const why = reason ?? 'it waits behind others'
    const episode = { app, reason: why, error: '', last_ms, unsaid: new Map(), said_ms: new Map() }
    this.#episodes.set(app.config_id, episode)
    this.#lasts(episode, lapse)
    return episode
  }

  /** The reason may be another one by now. */
  #lasts(episode: Episode, lapse: Lapse): void {
    const error = `${SAID[lapse].error}: ${episode.reason}`
    if (error === episode.error) return
    episode.error = error
    this.#records.lasts(episode.app, error)
  }

  #say(episode: Episode): void {
    const { app, reason, unsaid, said_ms } = episode
    const now_ms = this.#services.now().getTime()
    for (const [lapse, count] of unsaid) {
      if (now_ms - (said_ms.get(lapse) ?? -Infinity) < PAUSE_MS) continue
      unsaid.delete(lapse)
      said_ms.set(lapse, now_ms)
      const { one, many } = SAID[lapse]
      this.#logs.add(app, 'SYSTEM', 'WARN', `${count} ${count === 1 ? one : many}: ${reason}`)
      this.#lasts(episode, lapse)
    }
  }
}
