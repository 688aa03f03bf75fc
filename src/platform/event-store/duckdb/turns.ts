// Things lent out a few at a time, to projects in turn: one project's crowd does not keep the others out.

export class Turns<Thing> {
  readonly #free: Thing[]
  /** Who waits, by project; the project whose turn is next comes first. */
  readonly #waiting = new Map<number, ((thing: Thing) => void)[]>()

  constructor(things: readonly Thing[]) {
    this.#free = [...things]
  }

  /** Throws the signal's reason when that comes first. */
  take(project_id: number, signal?: AbortSignal): Promise<Thing> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    const free = this.#free.pop()
    if (free !== undefined) return Promise.resolve(free)
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#leave(project_id, enter)
        reject(signal?.reason as Error)
      }
      const enter = (thing: Thing) => {
        signal?.removeEventListener('abort', leave)
        resolve(thing)
      }
      signal?.addEventListener('abort', leave, { once: true })
      const line = this.#waiting.get(project_id)
      if (line) line.push(enter)
      else this.#waiting.set(project_id, [enter])
    })
  }

  giveBack(thing: Thing): void {
    const [next] = this.#waiting
    if (!next) {
      this.#free.push(thing)
      return
    }
    const [project_id, line] = next
    const enter = line.shift()!
    // To the end of the round.
    this.#waiting.delete(project_id)
    if (line.length > 0) this.#waiting.set(project_id, line)
    enter(thing)
  }

  #leave(project_id: number, enter: (thing: Thing) => void): void {
    const line = (this.#waiting.get(project_id) ?? []).filter((other) => other !== enter)
    if (line.length > 0) this.#waiting.set(project_id, line)
    else this.#waiting.delete(project_id)
  }
}
