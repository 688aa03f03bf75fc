// In two families at once: a destination, and a scheduled task; a namespace of helpers and an enum, as TypeScript has them.
enum Period {
  Day = 'day',
}

namespace Counter {
  export const KEY = 'counted'
}

export async function onEvent(_event: unknown, { utils }: any): Promise<void> {
  await utils.cursor.increment(Counter.KEY, 1)
}

export async function runEveryDay({ storage }: any): Promise<void> {
  const count = await storage.get(Counter.KEY, 0)
  posthog.capture('daily report', { distinct_id: 'reports', period: Period.Day, count })
  await storage.set(Counter.KEY, 0)
}
