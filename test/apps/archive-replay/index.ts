// Jobs that enqueue the next, and one that has to be tried again.
type Pages = { from: number; to: number }

export const jobs = {
  async replay({ from, to }: Pages, { jobs, config, storage }: any): Promise<void> {
    const answer = await fetch(`${config.url}?page=${from}`)
    if (answer.status === 503) throw new RetryError('not now')
    const { events } = (await answer.json()) as { events: { name: string; who: string }[] }
    for (const { name, who } of events) posthog.capture(name, { distinct_id: who, page: from })
    if (from < to) await jobs.replay({ from: from + 1, to }).runIn(1, 'minute')
    else await storage.set('done', true)
  },
}
