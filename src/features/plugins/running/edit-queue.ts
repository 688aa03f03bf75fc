// Edits that the registry was told of and has not taken up yet. They are taken up one at a time, those of projects whose
// events wait for them first.
import type { Scope } from './queries.ts'

type Edit = {
  scope: Scope
  projects: ReadonlySet<number>
  isAwaited: boolean
  done: Promise<void>
  end(): void
}

export class EditQueue {
  readonly #edits: Edit[] = []

  add(scope: Scope, projects: readonly number[]): void {
    let end = () => {}
    const done = new Promise<void>((resolve) => (end = resolve))
    this.#edits.push({ scope, projects: new Set(projects), isAwaited: false, done, end })
  }

  isEmpty(): boolean {
    return this.#edits.length === 0
  }

  concern(project_id: number): boolean {
    return this.#edits.some(({ projects }) => projects.has(project_id))
  }

  /** Until those of now that concern this project are taken up. */
  async done(project_id: number): Promise<void> {
    const own = this.#edits.filter(({ projects }) => projects.has(project_id))
    for (const edit of own) edit.isAwaited = true
    await Promise.all(own.map(({ done }) => done))
  }

  /** An edit stays when `take` throws. */
  async work(take: (scope: Scope) => Promise<void>): Promise<void> {
    for (let edit = this.#next(); edit; edit = this.#next()) {
      await take(edit.scope)
      this.#edits.splice(this.#edits.indexOf(edit), 1)
      edit.end()
    }
  }

  #next(): Edit | undefined {
    return this.#edits.find(({ isAwaited }) => isAwaited) ?? this.#edits[0]
  }
}
