// A limit on how long something is waited for; the thing itself goes on.

export async function within<T, Late>(limit_ms: number, work: Promise<T>, late: Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, limit_ms, late)
  })
  try {
    return await Promise.race([work, timeUp])
  } finally {
    clearTimeout(timer)
  }
}
