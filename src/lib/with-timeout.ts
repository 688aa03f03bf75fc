// A limit on how long something is waited for; the work itself goes on.

/** `onTimeout` gives the result in its place, or throws. */
export async function withTimeout<T, Late>(
  work: Promise<T>,
  limit_ms: number,
  onTimeout: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, limit_ms)))
  try {
    return await Promise.race([work, timeout.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}
