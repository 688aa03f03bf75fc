// Every function of the cache, and metrics of its own.
export const metrics = { visits: 'sum', longest_name: 'max' }

export async function processEvent(event, { cache, metrics }) {
  const key = `visits ${event.distinct_id}`
  event.properties.visit = await cache.incr(key)
  await cache.expire(key, 3600)
  await cache.lpush('latest', [event.distinct_id])
  event.properties.latest = await cache.lrange('latest', 0, 1)
  event.properties.visitors_seen = await cache.llen('latest')
  metrics.visits.increment(1)
  metrics.longest_name.max(event.event.length)
  return event
}
