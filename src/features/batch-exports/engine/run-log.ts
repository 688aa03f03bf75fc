// The log of one run: lines are written in order beside the work, and none is lost when it ends.
import type { Redactor } from '../../../platform/secrets/redactor.ts'
import type { Services } from '../../../platform/services.ts'
import { writeLog, type LogOwner } from '../logs/write.ts'
import type { LogLevel } from '../rows.ts'
import { scrub } from '../scrub.ts'

export class RunLog {
  readonly #services: Pick<Services, 'db' | 'log' | 'now'>
  readonly #owner: LogOwner
  readonly #redactor: Redactor
  #writing: Promise<void> = Promise.resolve()

  constructor(services: Pick<Services, 'db' | 'log' | 'now'>, owner: LogOwner, redactor: Redactor) {
    this.#services = services
    this.#owner = owner
    this.#redactor = redactor
  }

  write(level: LogLevel, message: string): void {
    const { db, log, now } = this.#services
    const at = now()
    this.#writing = this.#writing
      .then(() => writeLog(db, this.#owner, level, scrub(message, this.#redactor), at))
      // A line that cannot be kept must not fail the run it tells of.
      .catch((error: unknown) => log.warn({ err: error }, 'a line of an export log was lost'))
  }

  flush(): Promise<void> {
    return this.#writing
  }
}
