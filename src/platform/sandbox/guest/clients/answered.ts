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

/** Requests of aws-sdk 2: sent at once with a callback, otherwise by `promise()` or `send()`. */
export function answeredLater<T>(work: () => Promise<T>, callback: unknown) {
  if (typeof callback === 'function') void answered(work(), callback)
  return { promise: () => work(), send: (then: unknown) => void answered(work(), then) }
}
