// Who wants to know that something was changed, in this process: the clockworks that keep what the database says in
// memory. Tell after the commit, by `db.afterCommit`; what was missed (another process, a crash) listeners find by looking
// again now and then.

/** What changes are told of, and the id that goes with it. */
export type Topic = 'plugin' | 'plugin-config' | 'definitions'

/** `project_id`: the only project that the change concerns; undefined where there may be several. */
type Listener = (id: number, project_id?: number) => void

export class Changes {
  readonly #listeners = new Map<Topic, Set<Listener>>()

  tell(topic: Topic, id: number, project_id?: number): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(id, project_id)
  }

  /** Until the function that is returned is called. */
  listen(topic: Topic, listener: Listener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => void listeners.delete(listener)
  }
}
