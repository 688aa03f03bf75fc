// A program whose capture is attacked: the neighbour's project is the first one.
import { startTarget, type Target } from './target.ts'

export type CaptureWorld = {
  target: Target
  /** Path of the neighbour's project. */
  project: string
  /** How many of the neighbour's events meet a condition. */
  count(condition: string): Promise<number>
  close(): Promise<void>
}

export async function openCaptureWorld(): Promise<CaptureWorld> {
  const target = await startTarget()
  const { body } = await target.call('GET', '/api/projects/@current/')
  const project = `/api/projects/${body.id as number}`
  return {
    target,
    project,
    async count(condition) {
      const query = { kind: 'HogQLQuery', query: `select count() from events where ${condition}` }
      return Number((await target.call('POST', `${project}/query/`, { query })).body.results[0][0])
    },
    close: () => target.stop(),
  }
}
