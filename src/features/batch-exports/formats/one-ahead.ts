// Work that goes on while its last result is still in use.

/**
 * Gives what the source gives, and lets it make the next one meanwhile. When whoever reads stops early, `stop` is called
 * so that work under way ends soon, and what was made and not given goes to `discard`.
 */
export async function* oneAhead<T>(
  source: AsyncGenerator<T, void, void>,
  stop: () => void,
  discard: (value: T) => Promise<void>,
): AsyncGenerator<T, void, void> {
  let next = start(source)
  let is_done = false
  try {
    for (;;) {
      const { done, value } = await next
      if (done) {
        is_done = true
        return
      }
      next = start(source)
      yield value
    }
  } finally {
    if (!is_done) {
      stop()
      const unwanted = await next.catch(() => null)
      if (unwanted && !unwanted.done) await discard(unwanted.value)
      await source.return()
    }
  }
}

/** Its failure is told when its turn comes. */
function start<T>(source: AsyncGenerator<T, void, void>): Promise<IteratorResult<T, void>> {
  const next = source.next()
  next.catch(() => undefined)
  return next
}
