// Callbacks and promises: the clients that apps know offer both.

export type Callback<T> = (error: unknown, result?: T) => void

/** The promise, unless somebody wants to be called. What the callback throws is lost, as nobody waits for it. */
export function answered<T>(work: Promise<T>, callback: unknown): Promise<T> | undefined {
  if (typeof callback !== 'function') return work
  const call = callback as Callback<T>
  void work.then(
    (result) => call(null, result),
    (error: unknown) => call(error),
  )
  return undefined
}
