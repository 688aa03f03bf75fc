// How long calls take that begin on a beat, whether or not those before have been answered.

/** Until the work is done; in order of size, milliseconds. */
export async function paced(
  every_ms: number,
  call: () => Promise<void>,
  work: Promise<void>,
): Promise<number[]> {
  const latencies_ms: number[] = []
  const calls: Promise<void>[] = []
  const timed = async () => {
    const began = performance.now()
    await call()
    latencies_ms.push(performance.now() - began)
  }
  const beat = setInterval(() => calls.push(timed()), every_ms)
  await work.finally(() => clearInterval(beat))
  await Promise.all(calls)
  return latencies_ms.toSorted((a, b) => a - b)
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)]!
}

export function shown(sorted: readonly number[]): string {
  const [median, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
  return `p50 ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${sorted.length} calls)`
}
