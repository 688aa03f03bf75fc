// Figures that cost something are read once for all who ask within a while.

/** Remembers what `read` gave for a while, also for those who ask while it reads. A failure is forgotten. */
export function keptFor<T>(kept_ms: number, now: () => Date, read: () => Promise<T>): () => Promise<T> {
  let kept: { at: number; value: Promise<T> } | null = null
  return () => {
    const at = now().getTime()
    if (kept && Math.abs(at - kept.at) < kept_ms) return kept.value
    const reading = { at, value: read() }
    reading.value.catch(() => (kept = kept === reading ? null : kept))
    kept = reading
    return reading.value
  }
}
