// createBuffer of @posthog/plugin-contrib: gathers objects and hands them over together, when they have reached a size or
// have waited long enough.

type Options = {
  limit: number
  timeoutSeconds?: number
  onFlush?(objects: unknown[], points: number): unknown
}

export function makeCreateBuffer(setAlarm: (delay_ms: number, ring: () => unknown) => () => void) {
  return function createBuffer({ limit, timeoutSeconds = 600, onFlush }: Options) {
    let objects: unknown[] = []
    let points = 0
    let clearAlarm: (() => void) | null = null

    const flush = async (): Promise<void> => {
      clearAlarm?.()
      clearAlarm = null
      if (objects.length === 0) return
      const taken = objects
      const taken_points = points
      objects = []
      points = 0
      await onFlush?.(taken, taken_points)
    }

    return {
      add(object: unknown, object_points = 1): void {
        if (points > 0 && points + object_points > limit) void flush()
        objects.push(object)
        points += object_points
        if (points > limit) void flush()
        else clearAlarm ??= setAlarm(timeoutSeconds * 1000, flush)
      },
      flush,
    }
  }
}
