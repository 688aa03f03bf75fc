// What apps and the server say while apps run. Whoever logs never waits and never fails: lines gather in memory and are
// written together.
import { storableText } from '../../../lib/storable-text.ts'
import { randomUuid } from '../../../lib/uuid.ts'
import { WriteLater } from '../../../lib/write-later.ts'
import { MAX_LOG_LENGTH } from '../../../platform/sandbox/limits.ts'
import type { LogType } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import type { AppIds } from '../running/running-app.ts'
import { insertLines, keepNewest, type LogSource, type NewLine } from './write-queries.ts'

const DELAY_MS = 500
const MAX_MESSAGE_BYTES = 10 * 1024
const LINES_A_SECOND = 100
/** That secrets are looked for in, which takes the main thread some 50 ns each: of an app, and of all of them. */
const READ_A_SECOND = 100_000
const ALL_READ_A_SECOND = 2_000_000
/** Lines of all apps that wait to be written have at most this together. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** What a line costs besides its message. */
const LINE_BYTES = 200

type Ids = Omit<AppIds, 'redactor'>

/** What an app has said within one second. */
type Second = { app: Ids; type: LogType; second: number; lines: number; read: number; dropped: number }

export class PluginLogs {
  readonly #services: Pick<Services, 'db' | 'log' | 'now'>
  readonly #instance_id = randomUuid()
  readonly #seconds = new Map<string, Second>()
  readonly #later: WriteLater
  #waiting: NewLine[] = []
  #waiting_bytes = 0
  #read = { second: 0, characters: 0 }

  constructor(services: Pick<Services, 'db' | 'log' | 'now'>) {
    this.#services = services
    this.#later = new WriteLater({
      delay_ms: DELAY_MS,
      write: () => this.#write(),
      onFault: (error) => services.log.warn({ err: error }, 'plugins: log lines wait to be written'),
    })
  }

  add(app: AppIds, source: LogSource, type: LogType, message: string): void {
    this.#later.soon()
    const now = this.#services.now()
    const second = this.#secondOf(app, type, now)
    if (second.lines === LINES_A_SECOND || this.#isFull() || !this.#mayRead(app, message, second)) {
      second.dropped++
      return
    }
    second.lines++
    // The sandbox cuts what is longer.
    const clean = app.redactor.clean(message, message.length >= MAX_LOG_LENGTH)
    this.#push(newLine(app, source, type, storableText(clean, MAX_MESSAGE_BYTES), now))
  }

  flush(): Promise<void> {
    return this.#later.now()
  }

  async close(): Promise<void> {
    for (const second of this.#seconds.values()) second.second = -Infinity
    // Once to make room for what is to be said of dropped lines; what fails here is tried again below.
    await this.flush().catch(() => undefined)
    await this.#later.close()
  }

  #mayRead({ redactor }: AppIds, { length }: string, of: Second): boolean {
    if (redactor.is_empty) return true
    if (this.#read.second !== of.second) this.#read = { second: of.second, characters: 0 }
    const isTooMuch = of.read + length > READ_A_SECOND || this.#read.characters + length > ALL_READ_A_SECOND
    if (isTooMuch) return false
    of.read += length
    this.#read.characters += length
    return true
  }

  #isFull(): boolean {
    return this.#waiting_bytes >= MAX_WAITING_BYTES
  }

  /** DEBUG is counted apart: lines that are kept only for a while must not push out the others. */
  #secondOf({ config_id, project_id, plugin_id }: AppIds, type: LogType, now: Date): Second {
    const key = `${config_id} ${type === 'DEBUG'}`
    const second = Math.floor(now.getTime() / 1000)
    const known = this.#seconds.get(key)
    if (known?.second === second) return known
    if (known) this.#sayDropped(known)
    const app = { config_id, project_id, plugin_id }
    const dropped = known?.dropped ?? 0
    const fresh: Second = {
      app,
      type: type === 'DEBUG' ? 'DEBUG' : 'WARN',
      second,
      lines: 0,
      read: 0,
      dropped,
    }
    this.#seconds.set(key, fresh)
    return fresh
  }

  /** Or, while there is no room even for that, counts on. */
  #sayDropped(second: Second): void {
    const { app, type, dropped } = second
    if (dropped === 0 || this.#isFull()) return
    second.dropped = 0
    const message = `${dropped} ${dropped === 1 ? 'line' : 'lines'} dropped: there were too many at once.`
    this.#push(newLine(app, 'SYSTEM', type, message, this.#services.now()))
  }

  #push(line: NewLine): void {
    this.#waiting.push(line)
    this.#waiting_bytes += bytesOf(line)
  }

  async #write(): Promise<void> {
    this.#endSeconds()
    const lines = this.#waiting
    if (lines.length === 0) return
    this.#waiting = []
    try {
      const { db, now } = this.#services
      await db.transaction(async (tx) => {
        await insertLines(tx, lines, this.#instance_id, now())
        await keepNewest(tx, [...new Set(lines.map(({ plugin_config_id }) => plugin_config_id))])
      })
      this.#waiting_bytes -= lines.reduce((bytes, line) => bytes + bytesOf(line), 0)
    } catch (error) {
      this.#waiting = [...lines, ...this.#waiting]
      throw error
    }
  }

  #endSeconds(): void {
    const current = Math.floor(this.#services.now().getTime() / 1000)
    for (const [key, second] of this.#seconds) {
      if (second.second === current) continue
      this.#sayDropped(second)
      if (second.dropped === 0) this.#seconds.delete(key)
    }
    if (this.#seconds.size > 0) this.#later.soon()
  }
}

function newLine(app: Ids, source: LogSource, type: LogType, message: string, timestamp: Date): NewLine {
  const { project_id, plugin_id, config_id } = app
  return { project_id, plugin_id, plugin_config_id: config_id, source, type, message, timestamp }
}

function bytesOf({ message }: NewLine): number {
  return LINE_BYTES + 2 * message.length
}
