// /api/instance_status/: how this server is doing, for its staff. One part that cannot be had leaves the others standing.
import { withTimeout } from '../../lib/with-timeout.ts'
import { denied } from '../../platform/http/errors.ts'
import { ok, route } from '../../platform/http/route.ts'
import type { Services } from '../../platform/services.ts'
import { VERSION } from '../version.ts'
import { InstanceStatus, PARTS, type Parts } from './schema.ts'

const PART_LIMIT_MS = 4_000
const MAX_REASON = 300

export const instanceRoutes = [
  route({
    method: 'GET',
    path: '/api/instance_status/',
    summary: 'The state of this server: stores, disk, queues, memory and settings. For staff',
    access: 'session',
    async item({ caller }) {
      if (!caller.user.is_staff) throw denied('Only staff of this server can see this.')
    },
    answers: { 200: InstanceStatus },
    async handle({ services }) {
      const failed: { part: string; reason: string }[] = []
      const names = Object.keys(PARTS) as (keyof Parts)[]
      const read = await Promise.all(
        names.map(async (part) => {
          try {
            return [part, await readPart(services, part)] as const
          } catch (error) {
            const reason = error instanceof Error ? error.message : String(error)
            failed.push({ part, reason: reason.slice(0, MAX_REASON) })
            return [part, null] as const
          }
        }),
      )
      const parts = Object.fromEntries(read) as { [Name in keyof Parts]: Parts[Name] | null }
      return ok({ version: VERSION, uptime_s: Math.floor(process.uptime()), ...parts, failed })
    },
  }),
]

async function readPart({ instance }: Services, part: keyof Parts): Promise<unknown> {
  const read = instance.get(part)
  if (!read) throw new Error('this process does not report it')
  const value = await withTimeout(read(), PART_LIMIT_MS, () => {
    throw new Error(`no answer within ${PART_LIMIT_MS / 1000} seconds`)
  })
  return PARTS[part].parse(value)
}
