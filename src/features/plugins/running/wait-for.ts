// A limit on how long something is waited for; the thing itself goes on.

/** Null when the time is up. */
export async function waitFor<T>(work: Promise<T>, limit_ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<null>((resolve) => (timer = setTimeout(resolve, limit_ms, null)))
  // Whoever has stopped waiting does not hear of its failure.
  work.catch(() => undefined)
  try {
    return await Promise.race([work, timeUp])
  } finally {
    clearTimeout(timer)
  }
}
